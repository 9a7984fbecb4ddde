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


def test_what_is_sent_again_is_not_done_twice(browse, cluster):
    """The page does not know what became of a request whose answer was lost, and says so; pressing the button again does it once."""
    seen = browse("lost", key=cluster.user().key, name="Sparse attention")
    assert seen["errors"] == []
    assert ["It is not known whether this was done" in told for told in seen["told"]] == [True, True], seen["told"]
    first, second = seen["made"]
    assert first["key"] == second["key"] and (first["status"], second["status"], seen["count"]) == (201, 201, 1)
    assert [answer["status"] for answer in seen["deleted"]] == [200, 404]
