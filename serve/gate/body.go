package gate

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

// kinds are the names in JSON of the kinds of fields.
var kinds = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	reflect.String: "string", reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
}

// Read reads the JSON object in a request's body into v, with ReadBytes and Gate.Decode.
func (g *Gate) Read(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := g.ReadBytes(w, r)
	if err != nil {
		return err
	}
	return g.Decode(r.Context(), data, v)
}

// ReadBytes reads the body of a request, within Options.ClientTimeout and Options.Body. If the body is compressed with gzip or deflate, Options.Body
// limits its size both before and after decompression.
func (g *Gate) ReadBytes(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(g.ClientTimeout)) // not every ResponseWriter has one
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.Body))
	_ = c.SetReadDeadline(time.Time{})
	if err == nil {
		return expand(data, r.Header.Get("Content-Encoding"), g.Body)
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large || errors.Is(err, os.ErrDeadlineExceeded) {
		return data, err
	}
	return nil, Failure{Status: http.StatusBadRequest, Message: "the body is cut off: " + err.Error()}
}

// Decode reads a request's JSON object from r into v. The error is a Failure, or an error of r.
func Decode(r io.Reader, v any) error {
	d := json.NewDecoder(r)
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the object")
		}
	}
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return Invalid(field(reflect.TypeOf(v).Elem(), wrong.Field), "a JSON %s, want %s", wrong.Value, kinds[wrong.Type.Kind()])
	}
	if f, ok := errors.AsType[Failure](err); ok {
		return f
	}
	return Failure{Status: http.StatusBadRequest, Message: "the body is not a request in JSON: " + err.Error()}
}

// field returns the path of a field without the names of embedded structs, which package json includes.
func field(of reflect.Type, path string) string {
	for {
		name, rest, _ := strings.Cut(path, ".")
		if of.Kind() != reflect.Struct {
			return path
		}
		f, ok := of.FieldByName(name)
		if !ok || !f.Anonymous {
			return path
		}
		of, path = f.Type, rest
	}
}

// Span is a range of numbers that includes its bounds.
type Span[T int | float64] struct{ least, most T }

// Between returns the range of the numbers from least to most.
func Between[T int | float64](least, most T) Span[T] { return Span[T]{least, most} }

// Set stores *value in *dst. If value is nil, Set does nothing. If *value is not within the limits, Set returns a Failure for
// the request's field that param names.
func Set[T int | float64](dst *T, param string, value *T, limits Span[T]) error {
	if value == nil {
		return nil
	}
	if !(*value >= limits.least && *value <= limits.most) {
		return Invalid(param, "%v is not from %v to %v", *value, limits.least, limits.most)
	}
	*dst = *value
	return nil
}

// Texts is a list of texts. In JSON, it may also be a single text, or null.
type Texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if *t = nil; one != nil {
			*t = Texts{*one}
		}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return Failure{Status: http.StatusBadRequest, Message: "a text, or a list of texts, is " + string(data[:min(len(data), 40)])}
	}
	*t = list
	return nil
}
