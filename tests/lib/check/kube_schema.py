"""Kubernetes manifests as the API server would read them, offline: against the generated models of python3-kubernetes, unknown
fields included."""

import re

from kubernetes import client

# What the models call `object` or leave open, and the forms of quantities.
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float)}
CONTAINER = re.compile(r"(list|dict)(\[|\()(?:str, )?(.+)[\])]")


def model_name(manifest):
    """apps/v1 Deployment -> V1Deployment"""
    version = manifest["apiVersion"].rpartition("/")[2]
    return version.capitalize() + manifest["kind"]


def faults_of(value, type_name, path):
    """Yield a line for each fault of `value` as `type_name` of the models: `V1Pod`, `list[str]`, `dict(str, str)`."""
    container = CONTAINER.fullmatch(type_name)
    if type_name in ("object", "datetime") or type_name == "int_or_string":
        return
    if container:
        kind, _, inner = container.groups()
        if not isinstance(value, list if kind == "list" else dict):
            yield f"{path}: is no {kind}"
            return
        items = enumerate(value) if kind == "list" else value.items()
        for key, item in items:
            yield from faults_of(item, inner, f"{path}[{key}]")
    elif type_name in PLAIN:
        if not isinstance(value, PLAIN[type_name]) or (isinstance(value, bool) and type_name != "bool"):
            yield f"{path}: {value!r} is no {type_name}"
    else:
        yield from object_faults(value, getattr(client, type_name), path)


def object_faults(value, model, path):
    if not isinstance(value, dict):
        yield f"{path}: is no object"
        return
    names = {json_name: name for name, json_name in model.attribute_map.items()}
    for json_name, item in value.items():
        if json_name not in names:
            yield f"{path}.{json_name}: there is no such field"
        elif item is not None:
            yield from faults_of(item, model.openapi_types[names[json_name]], f"{path}.{json_name}")
    try:  # the models know which fields are required
        configuration = client.Configuration()
        model(local_vars_configuration=configuration, **{names[key]: item for key, item in value.items() if key in names})
    except ValueError as error:
        yield f"{path}: {error}"


def manifest_faults(manifest):
    """The faults of one manifest; none: []."""
    name = f"{manifest.get('kind')}/{manifest.get('metadata', {}).get('name')}"
    model = getattr(client, model_name(manifest), None)
    return list(object_faults(manifest, model, name)) if model else [f"{name}: there is no such kind"]
