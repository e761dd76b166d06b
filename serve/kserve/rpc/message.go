package rpc

import (
	"bytes"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
)

// codec encodes the messages of the protocol.
type codec struct{}

// Name implements connect.Codec.
func (codec) Name() string { return "proto" }

// Marshal implements connect.Codec for answers.
func (codec) Marshal(v any) ([]byte, error) { return (*v.(*answer)).append(nil), nil }

// Unmarshal implements connect.Codec for requests, which keep data.
func (codec) Unmarshal(data []byte, v any) error { return v.(question).read(bytes.Clone(data)) }

// question is a request.
type question interface{ read(data []byte) error }

// answer is what a call returns.
type answer interface{ append(to []byte) []byte }

// errMessage is the error of bytes that are no message.
var errMessage = errors.New("not a message of the protocol")

// field is a field of a message: a number, or bytes.
type field struct {
	number protowire.Number
	varint uint64
	bytes  []byte // not nil if the field has bytes
}

// fields calls f with the fields of a message. Fields of other types are skipped.
func fields(data []byte, f func(field) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errMessage
		}
		data = data[n:]
		x := field{number: number}
		switch kind {
		case protowire.VarintType:
			x.varint, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(data)
			if n >= 0 && x.bytes == nil {
				x.bytes = []byte{}
			}
		default:
			if n = protowire.ConsumeFieldValue(number, kind, data); n >= 0 {
				data = data[n:]
				continue
			}
		}
		if n < 0 {
			return errMessage
		}
		data = data[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// modelName is the request of calls about a model or the server: the name and the version.
type modelName struct{ name, version string }

func (m *modelName) read(data []byte) error {
	return fields(data, func(f field) error {
		switch f.number {
		case 1:
			m.name = string(f.bytes)
		case 2:
			m.version = string(f.bytes)
		}
		return nil
	})
}

// inferQuestion is a request for tensors.
type inferQuestion struct {
	modelName
	id      string
	given   map[string]int64 // parameters
	inputs  []input
	outputs []kserve.Wanted
	raw     [][]byte
}

// input is an input whose elements may be in the raw contents of the request.
type input struct {
	kserve.Tensor
	datatype string
	given    bool // the message has the elements
}

func (q *inferQuestion) read(data []byte) error {
	return fields(data, func(f field) error {
		switch f.number {
		case 1:
			q.name = string(f.bytes)
		case 2:
			q.version = string(f.bytes)
		case 3:
			q.id = string(f.bytes)
		case 4:
			name, value, err := parameter(f.bytes)
			if q.given == nil {
				q.given = map[string]int64{}
			}
			q.given[name] = value
			return err
		case 5:
			var x input
			err := x.read(f.bytes)
			q.inputs = append(q.inputs, x)
			return err
		case 6:
			w, err := readWanted(f.bytes)
			q.outputs = append(q.outputs, w)
			return err
		case 7:
			q.raw = append(q.raw, f.bytes)
		}
		return nil
	})
}

func (x *input) read(data []byte) error {
	return fields(data, func(f field) error {
		switch f.number {
		case 1:
			x.Name = string(f.bytes)
		case 2:
			x.datatype = string(f.bytes)
		case 3:
			return x.readShape(f)
		case 5:
			x.given, x.Bytes = true, [][]byte{}
			return fields(f.bytes, func(f field) error {
				if f.number == 8 {
					x.Bytes = append(x.Bytes, f.bytes)
				}
				return nil
			})
		}
		return nil
	})
}

// readShape appends a size, or several that are packed.
func (x *input) readShape(f field) error {
	if f.bytes == nil {
		x.Shape = append(x.Shape, int64(f.varint))
		return nil
	}
	for data := f.bytes; len(data) > 0; {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return errMessage
		}
		x.Shape, data = append(x.Shape, int64(v)), data[n:]
	}
	return nil
}

// readWanted reads an output that a request asks for. Of its parameters, a map from names to values, the number of classes counts.
func readWanted(data []byte) (w kserve.Wanted, err error) {
	err = fields(data, func(f field) error {
		switch f.number {
		case 1:
			w.Name = string(f.bytes)
		case 2:
			name, value, err := parameter(f.bytes)
			if name == "classification" {
				w.Classes = int(max(min(value, 1<<31-1), -1))
			}
			return err
		}
		return nil
	})
	return w, err
}

// parameter reads an element of a map of parameters. The value is 0 if it is not a number.
func parameter(data []byte) (name string, value int64, err error) {
	err = fields(data, func(f field) error {
		if f.number == 1 {
			name = string(f.bytes)
			return nil
		}
		return fields(f.bytes, func(f field) error { value = int64(f.varint); return nil })
	})
	return name, value, err
}

// request returns the request with the elements of all inputs. The error is a gate.Failure.
func (q *inferQuestion) request() (r kserve.Request, err error) {
	r.Outputs, r.Priority, r.Timeout = q.outputs, q.given["priority"], q.given["timeout"]
	if len(q.raw) > 0 && len(q.raw) != len(q.inputs) {
		return r, gate.Invalid("raw_input_contents", "%d for %d inputs", len(q.raw), len(q.inputs))
	}
	for i, x := range q.inputs {
		switch {
		case x.datatype != kserve.Bytes:
			return r, gate.Invalid("inputs", "%s: the datatype is %q, want %q", x.Name, x.datatype, kserve.Bytes)
		case len(q.raw) > 0 && x.given:
			return r, gate.Invalid("inputs", "%s: contents and raw contents", x.Name)
		case len(q.raw) > 0:
			if err := x.SetRaw(q.raw[i]); err != nil {
				return r, err
			}
		}
		r.Inputs = append(r.Inputs, x.Tensor)
	}
	return r, nil
}

// yes is an answer of one bool.
type yes bool

func (y yes) append(to []byte) []byte {
	if !y {
		return to // the default
	}
	return protowire.AppendVarint(protowire.AppendTag(to, 1, protowire.VarintType), 1)
}

// text appends a text.
func text(to []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), s)
}

// message appends a message, or bytes.
func message(to []byte, number protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), data)
}

// form appends a tensor's name, datatype and shape.
func form(to []byte, f kserve.Form) []byte {
	to = text(text(to, 1, f.Name), 2, f.Datatype)
	var shape []byte
	for _, n := range f.Shape {
		shape = protowire.AppendVarint(shape, uint64(n))
	}
	return message(to, 3, shape)
}

// serverAnswer describes the server.
type serverAnswer struct{ extensions []string }

func (a serverAnswer) append(to []byte) []byte {
	to = text(text(to, 1, kserve.Server), 2, kserve.ServerVersion)
	for _, name := range a.extensions {
		to = text(to, 3, name)
	}
	return to
}

// modelAnswer describes a model.
type modelAnswer struct {
	name    string
	in, out kserve.Form
}

func (m modelAnswer) append(to []byte) []byte {
	to = text(text(text(to, 1, m.name), 2, kserve.Version), 3, kserve.Server)
	return message(message(to, 4, form(nil, m.in)), 5, form(nil, m.out))
}

// inferAnswer has tensors, all of them raw.
type inferAnswer struct {
	name, id string
	list     []kserve.Tensor
}

func (a inferAnswer) append(to []byte) []byte {
	to = text(text(text(to, 1, a.name), 2, kserve.Version), 3, a.id)
	for _, t := range a.list {
		to = message(to, 5, form(nil, kserve.Form{Name: t.Name, Datatype: t.Datatype(), Shape: t.Shape}))
	}
	for _, t := range a.list {
		to = message(to, 6, t.Raw())
	}
	return to
}
