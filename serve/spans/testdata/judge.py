"""Reads messages of OTLP in hexadecimal digits, one a line, with OpenTelemetry's own definitions, and writes them as JSON."""

import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2


def main():
    for line in sys.stdin:
        data = bytes.fromhex(line)
        request = trace_service_pb2.ExportTraceServiceRequest()
        request.ParseFromString(data)
        text = json_format.MessageToJson(request)
        again = json_format.Parse(text, trace_service_pb2.ExportTraceServiceRequest())
        if request.SerializeToString(deterministic=True) != again.SerializeToString(deterministic=True):
            raise ValueError("the message changes in JSON")
        unknown = len(data) - request.ByteSize()
        if unknown or len(data) == 0:
            raise ValueError(f"{unknown} bytes of {len(data)} are not as OpenTelemetry would write them")
        print(json.dumps(json.loads(text), sort_keys=True))


main()
