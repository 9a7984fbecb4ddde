"""Roles and databases of a server."""

import base64
import hashlib
import hmac
import re

import psycopg


def make_administrator(server, role, password, database):
    """A role that may make roles and is no superuser, and a database that it owns."""
    server.execute(f"CREATE ROLE {role} LOGIN CREATEROLE PASSWORD '{password}'")
    server.execute(f"CREATE DATABASE {database} OWNER {role}")


def keeps_to_its_own(db):
    """Whether a service's role is refused all that is not the service's."""
    statements = ["CREATE TABLE search.of_others ()", "SET ROLE expops_search", "CREATE TABLE public.of_all ()", "DELETE FROM audit.audit"]
    found = []
    for statement in statements:
        try:
            db.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            found.append(statement)
    return found == statements


def uses_its_own(db):
    """Whether a service's role makes tables in its schema, and reads the audit log."""
    db.execute("CREATE TABLE of_its_own ()")
    return db.execute("SELECT count(*) FROM audit.audit").fetchone() == (0,)


def give_rights(server, role):
    server.execute(f"ALTER ROLE {role} SUPERUSER CREATEDB CREATEROLE")


def has_rights(server, role):
    """Whether a role has a right over the whole server."""
    return server.execute("SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = %s", [role]).fetchone()[0]


def has_password(server, role, password):
    """By what Postgres keeps of it (RFC 5803)."""
    (verifier,) = server.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", [role]).fetchone()
    iterations, salt, stored = re.fullmatch(r"SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):.*", verifier).groups()
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(iterations))
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    return hashlib.sha256(client_key).digest() == base64.b64decode(stored)


def settings_of(connection):
    """{role: its settings} of those of the product."""
    rows = connection.execute("SELECT rolname, setconfig FROM pg_db_role_setting JOIN pg_roles r ON r.oid = setrole WHERE rolname LIKE 'expops\\_%'")
    return {name: sorted(settings) for name, settings in rows.fetchall()}


def reset_settings(connection, *names):
    for name in names:
        connection.execute(f"ALTER ROLE {name} RESET ALL")
