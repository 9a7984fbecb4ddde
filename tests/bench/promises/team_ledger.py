"""What a client knows of its team. Invitations are made and revoked, and a member gets one role after the other; each answer can be
lost. What was accepted holds at the end, and the member's key may do what its last role may."""

import secrets
import time

from lib.scenario.team import add_member

ROLES = ["admin", "member", "viewer"]
OPEN_MAX = 10  # invitations: more than 50 are refused
LOST_SECONDS = 60  # a request whose answer was lost may still be carried out for so long


class TeamLedger:
    """Of one kill.Client."""

    def __init__(self, client):
        self.client = client
        self.member = add_member(client.cluster, client.user.account, ROLES[0])
        self.role, self.lost = ROLES[0], {}  # the one that was accepted, {another that it may have: when its answer was lost}
        self.open, self.revoked = {}, []  # {email: id} of invitations, the emails of those that were revoked

    def step(self):
        """An invitation is made or revoked, or the member gets a role."""
        action = self.client.choice.choice([self.invite, self.revoke, self.change_role])
        action()

    def invite(self):
        if len(self.open) == OPEN_MAX:
            return
        email = f"{secrets.token_hex(8)}@example.org"
        made = self.client.send("POST", "/team/invitations", {"email": email, "role": self.client.choice.choice(ROLES)})
        if made is not None and self.client.expect(made, 201):
            self.open[email] = made.json()["id"]

    def revoke(self):
        if not self.open:
            return
        email = self.client.choice.choice(list(self.open))
        gone = self.client.repeat("DELETE", f"/team/invitations/{self.open.pop(email)}")
        if gone is not None and self.client.expect(gone, 200, 404):  # 404: an earlier answer was lost
            self.revoked.append(email)

    def change_role(self):
        role = self.client.choice.choice(ROLES)
        answer = self.client.send("PATCH", f"/team/members/{self.member.person}", {"role": role})
        if answer is None:
            self.lost[role] = time.time()
        elif self.client.expect(answer, 200):
            self.role = role
            self.lost = {one: at for one, at in self.lost.items() if time.time() - at < LOST_SECONDS}

    def broken(self):
        """The promises that were broken."""
        team = self.client.read("/team").json()
        invited = {one["email"] for one in team["invitations"]}
        yield from (f"the invitation of {email} was lost" for email in self.open.keys() - invited)
        yield from (f"the revoked invitation of {email} is open" for email in invited & set(self.revoked))
        role = next(one["role"] for one in team["members"] if one["person_id"] == self.member.person)
        if role != self.role and role not in self.lost:
            yield f"the member is {role}, and was made {self.role}"
        if self.client.read("/team", key=self.member.api.key).json()["you"]["role"] != role:
            yield f"the member is {role}, and its key acts for another role"
