"""What the pages do when something fails: a script that does not come, recommendations that do not come."""


def test_a_script_that_does_not_come_is_said(browse, cluster):
    seen = browse("scripts", key=cluster.user().key)
    assert (seen["errors"], seen["found"], seen["isToldStill"]) == ([], [], False)


def test_recommendations_that_do_not_come_are_asked_for_less_and_less(browse, cluster):
    user = cluster.user()
    user.api.post("/interests", {"name": "Retrieval", "context": "Dense retrieval."}, expect=201)
    seen = browse("awaited", key=user.key)
    assert seen["errors"] == []
    assert seen["first"] >= 10 and 1 <= seen["later"] <= 5  # in a minute, and in four of them
