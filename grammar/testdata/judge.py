"""Validates documents: reads lines {"schema": ..., "documents": [text, ...]}, prints a line for each invalid document."""

import json
import sys

import jsonschema
from jsonschema.validators import validator_for

for number, line in enumerate(sys.stdin):
    case = json.loads(line)
    schema = case["schema"]
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    for text in case["documents"]:
        try:
            validator.validate(json.loads(text))
        except (jsonschema.ValidationError, ValueError) as e:
            print(json.dumps([number, text, str(e)[:300]]))
        except Exception as e:  # the validator cannot use the schema
            print(json.dumps([number, "", repr(e)[:300]]))
            break
