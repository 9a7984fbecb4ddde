"""What migrations leave to be done in batches after them (libcommon/service/fill.h): answers are the same before it is done, while it is
kept from going on, and after it."""

import contextlib

import pytest

from lib.scenario.evidence import new_paper
from lib.tables import experiments as tables
from lib.tables import fleet as fleet_tables
from lib.tables.common import unfilled


@pytest.fixture
def without_candidates(cluster, user):
    """A context in which the papers that runs considered are not filled in."""

    @contextlib.contextmanager
    def enter():
        with cluster.postgres.connect("fleet") as db, cluster.postgres.connect("fleet") as holder:
            before = set(fleet_tables.candidates_of(db, user.account))
            assert before
            with unfilled(db, holder, "candidates", lambda c: fleet_tables.lock_runs(c, user.account),
                          lambda c: fleet_tables.forget_candidates(c, user.account)):  # fmt: skip
                yield
            assert set(fleet_tables.candidates_of(db, user.account)) >= before

    return enter


@pytest.fixture
def without_papers(cluster, user, db):
    """One in which the papers of experiments are not."""

    @contextlib.contextmanager
    def enter():
        with cluster.postgres.connect("experiments") as holder:
            before = tables.papers_of_experiments(db, user.account)
            assert before
            with unfilled(db, holder, "experiment_papers", lambda c: tables.lock_experiments(c, user.account),
                          lambda c: tables.forget_papers(c, user.account)):  # fmt: skip
                yield
            assert tables.papers_of_experiments(db, user.account) >= before

    return enter


def test_evidence_is_the_same_before_candidates_are_filled_in(steps, paper, without_candidates):
    other = new_paper()
    rejected = [{"arxiv_id": other, "reason": "License is GPL"}, {"arxiv_id": f"arXiv:{paper}", "reason": "chosen after all"},
                {"arxiv_id": f"{other}v2", "reason": "once more"}, "no object"]  # fmt: skip
    url = steps.open(1, f"{paper}v2", selection_rejected=rejected)
    steps.settle(1, "merged", days=40)
    steps.report(2, arxiv_id=other, selection_rejected=[{"arxiv_id": paper, "reason": "needs a GPU", "score": 0.4}])
    experiment = steps.experiment(paper, pr_url=url)
    ways = (f"/experiments/{experiment}/evidence", f"/search/assets/{paper}/outcomes",
            "/fleet/outcomes/rejections?since=2026-01-01", "/fleet/outcomes/rejections?gate=feasibility")  # fmt: skip

    def answers():
        return [{**steps.api.get(way, expect=200).json(), "generated_at": None} for way in ways]

    before = answers()
    with without_candidates():
        assert answers() == before
        steps.report(3, arxiv_id=paper)
        with_another = answers()
        assert with_another != before
    assert answers() == with_another


def test_a_paper_has_its_experiments_before_they_are_filled_in(steps, paper, without_papers):
    first, second = steps.experiment(paper), steps.experiment(paper, linked_resources=[{"type": "arxiv_paper", "id": new_paper()}])

    def experiments():
        return [row["experiment_id"] for row in steps.outcomes(paper)["experiments"]]

    assert experiments() == [second, first]
    with without_papers():
        assert experiments() == [second, first]
        steps.experiment(paper)
        assert len(experiments()) == 3
