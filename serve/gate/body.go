package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// Decode decodes the JSON object of a request into v. The error is a Failure. An integer may have the form of a floating-point number, such as 3.0.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) { // package json would replace the bytes
		return Failure{Status: http.StatusBadRequest, Message: "the body is not valid UTF-8"}
	}
	err := decode(data, v)
	for range most {
		fixed, ok := withInteger(data, err)
		if !ok {
			break
		}
		data = fixed
		err = decode(data, v)
	}
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return Invalid(field(reflect.TypeOf(v).Elem(), wrong.Field), "a JSON %s, want %s", wrong.Value, kinds[wrong.Type.Kind()])
	}
	if f, ok := errors.AsType[Failure](err); ok {
		return f
	}
	return Failure{Status: http.StatusBadRequest, Message: "the body is not a request in JSON: " + err.Error()}
}

// decode decodes a JSON object, after which there must be nothing else.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, more := d.Token(); !errors.Is(more, io.EOF) {
		return errors.New("there is more after the object")
	}
	return nil
}

// most is the largest number of integers of a request that have the form of floating-point numbers. The body is decoded again for each of them.
const most = 16

// withInteger returns a copy of data in which a number that package json refuses for an integer has the form of an integer. It reports false if err
// is about something else.
func withInteger(data []byte, err error) ([]byte, bool) {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || kinds[wrong.Type.Kind()] != "integer" {
		return nil, false
	}
	text, number := strings.CutPrefix(wrong.Value, "number ")
	n, whole := integer(text)
	end := int(min(wrong.Offset, int64(len(data))))
	if !number || !whole || !bytes.HasSuffix(data[:end], []byte(text)) {
		return nil, false
	}
	return slices.Concat(data[:end-len(text)], strconv.AppendInt(nil, n, 10), data[end:]), true
}

// integer returns the integer that a floating-point number in JSON is, if it is one of at most 53 bits.
func integer(text string) (n int64, ok bool) {
	x, err := strconv.ParseFloat(text, 64)
	ok = err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53
	if ok {
		n = int64(x)
	}
	return n, ok
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
