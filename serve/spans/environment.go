package spans

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FromEnvironment returns the Options that the variables of OpenTelemetry's specification describe. Endpoint is empty if the variables name no
// endpoint or turn traces off. FromEnvironment ignores variables whose values are invalid or not supported, and describes them in an error that wraps
// ErrOptions.
func FromEnvironment(get func(name string) string) (o Options, err error) {
	e := environment{get: get}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || get("OTEL_TRACES_EXPORTER") == "none" {
		return o, nil
	}
	if o.Endpoint = e.endpoint(); o.Endpoint == "" {
		return o, e.err
	}
	if name := get("OTEL_TRACES_EXPORTER"); name != "" && name != "otlp" {
		e.ignore("OTEL_TRACES_EXPORTER", name, "only otlp and none are supported")
	}
	if protocol := e.otlp("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		e.ignore("OTEL_EXPORTER_OTLP_PROTOCOL", protocol, "only http/protobuf is supported")
	}
	o.Headers = e.pairs("OTEL_EXPORTER_OTLP_HEADERS")
	maps.Copy(o.Headers, e.pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS"))
	o.Timeout = e.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT")
	if d := e.milliseconds("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"); d > 0 {
		o.Timeout = d
	}
	o.Interval = e.milliseconds("OTEL_BSP_SCHEDULE_DELAY")
	o.Resource, o.Sampler = e.resource(), e.sampler()
	return o, e.err
}

// environment reads variables.
type environment struct {
	get func(name string) string
	err error // of those that are ignored
}

// ignore notes that a variable is ignored.
func (e *environment) ignore(name, value, why string) {
	e.err = errors.Join(e.err, fmt.Errorf("%w: %s=%s is ignored: %s", ErrOptions, name, value, why))
}

// otlp returns the value of a variable for traces or, if it is not set, for all signals.
func (e *environment) otlp(name string) string {
	if value := e.get("OTEL_EXPORTER_OTLP_TRACES_" + name); value != "" {
		return value
	}
	return e.get("OTEL_EXPORTER_OTLP_" + name)
}

// endpoint returns the URL for traces, or "".
func (e *environment) endpoint() string {
	name, suffix := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""
	value := e.get(name)
	if value == "" {
		name, suffix = "OTEL_EXPORTER_OTLP_ENDPOINT", "/v1/traces"
		value = e.get(name)
	}
	if value == "" {
		return ""
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		e.ignore(name, value, "it is not a URL with http or https")
		return ""
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + suffix
	return u.String()
}

// pairs returns the values of a list of the form name=value,name=value with percent-encoding.
func (e *environment) pairs(variable string) map[string]string {
	list := map[string]string{}
	for part := range strings.SplitSeq(e.get(variable), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			e.ignore(variable, "...", "it is not a list of the form name=value,name=value") // the values may be secret
			return map[string]string{}
		}
		list[name] = value
	}
	return list
}

// milliseconds returns a time, or 0 for the usual one.
func (e *environment) milliseconds(variable string) time.Duration {
	value := e.get(variable)
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 {
		e.ignore(variable, value, "it is not a positive number of milliseconds")
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// resource returns the attributes of the server.
func (e *environment) resource() []Attribute {
	all := map[string]string{
		"service.name": "gopherwarp", "telemetry.sdk.name": "gopherwarp", "telemetry.sdk.language": "go",
	}
	maps.Copy(all, e.pairs("OTEL_RESOURCE_ATTRIBUTES"))
	if name := e.get("OTEL_SERVICE_NAME"); name != "" {
		all["service.name"] = name
	}
	var list []Attribute
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, Attr(key, strings.ToValidUTF8(all[key], "")))
	}
	return list
}

// sampler returns the sampler.
func (e *environment) sampler() Sampler {
	name, argument := e.get("OTEL_TRACES_SAMPLER"), e.get("OTEL_TRACES_SAMPLER_ARG")
	if name == "" {
		return Sampler{}
	}
	s, err := ParseSampler(name, argument)
	if err != nil {
		e.err = errors.Join(e.err, fmt.Errorf("OTEL_TRACES_SAMPLER=%s is ignored: %w", name, err))
	}
	return s
}
