package rpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// code is the status of a call, as gRPC numbers them.
type code int

const (
	codeOK                code = 0
	codeInvalidArgument   code = 3
	codeDeadlineExceeded  code = 4
	codeNotFound          code = 5
	codeResourceExhausted code = 8
	codeUnimplemented     code = 12
	codeInternal          code = 13
	codeUnavailable       code = 14
	codeUnauthenticated   code = 16
)

// String returns the name of the code in gRPC's documents.
func (c code) String() string {
	switch c {
	case codeOK:
		return "OK"
	case codeInvalidArgument:
		return "INVALID_ARGUMENT"
	case codeDeadlineExceeded:
		return "DEADLINE_EXCEEDED"
	case codeNotFound:
		return "NOT_FOUND"
	case codeResourceExhausted:
		return "RESOURCE_EXHAUSTED"
	case codeUnimplemented:
		return "UNIMPLEMENTED"
	case codeInternal:
		return "INTERNAL"
	case codeUnavailable:
		return "UNAVAILABLE"
	case codeUnauthenticated:
		return "UNAUTHENTICATED"
	}
	return strconv.Itoa(int(c))
}

// failure is the error of a call.
type failure struct {
	code code
	text string
}

func (f failure) Error() string { return f.text }

// unary is the handler of a call with one message in each direction. The protocol is gRPC over HTTP/2
// (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md).
type unary struct {
	limit int64 // bytes of a request
	call  func(ctx context.Context, request []byte) (answer, error)
}

// prefix is the number of bytes before a message: one that is 1 if the message is compressed, and its length.
const prefix = 5

// compression is the only one that is supported.
const compression = "gzip"

func (u unary) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if kind := r.Header.Get("Content-Type"); kind != grpc && kind != grpc+"+proto" {
		w.Header().Set("Accept-Post", grpc)
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	message, compressed, err := u.answer(r)
	if err != nil {
		f, ok := errors.AsType[failure](err)
		if !ok { // the request could not be read
			g := gate.FailureOf(err)
			f = failure{codeOf(g.Status), g.Message}
		}
		fail(w, f.code, f.text)
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.Header().Set("Grpc-Accept-Encoding", compression)
	if compressed {
		w.Header().Set("Grpc-Encoding", compression)
	}
	w.Write(message) // an error means that the client has left
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(codeOK)))
}

// fail answers a call with an error in the headers.
func fail(w http.ResponseWriter, c code, text string) {
	w.Header().Set("Content-Type", grpc)
	w.Header().Set("Grpc-Status", strconv.Itoa(int(c)))
	w.Header().Set("Grpc-Message", url.PathEscape(text))
	w.WriteHeader(http.StatusOK)
}

// answer returns the message that answers a request, with its prefix. It is compressed if the request is.
func (u unary) answer(r *http.Request) (message []byte, compressed bool, err error) {
	ctx, cancel, err := deadline(r)
	if err != nil {
		return nil, false, err
	}
	defer cancel()
	request, compressed, err := u.read(r)
	if err != nil {
		return nil, false, err
	}
	a, err := u.call(ctx, request)
	if err != nil {
		return nil, false, err
	}
	message = a.append(make([]byte, prefix))
	if compressed {
		message = compress(message)
		message[0] = 1
	}
	binary.BigEndian.PutUint32(message[1:], uint32(len(message)-prefix))
	return message, compressed, nil
}

// compress compresses what follows the prefix of a message.
func compress(message []byte) []byte {
	var b bytes.Buffer
	b.Write(message[:prefix])
	z := gzip.NewWriter(&b)
	z.Write(message[prefix:]) // a bytes.Buffer has no errors
	z.Close()
	return b.Bytes()
}

// deadline returns the context of a request, with the time limit that the client gives, such as 250m for as many milliseconds.
func deadline(r *http.Request) (context.Context, context.CancelFunc, error) {
	text := r.Header.Get("Grpc-Timeout")
	if text == "" {
		return r.Context(), func() {}, nil
	}
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}
	unit, known := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 63)
	if !known || err != nil || len(text) > 9 { // the protocol has at most 8 digits
		return nil, nil, failure{codeInvalidArgument, fmt.Sprintf("the header grpc-timeout is %q", text)}
	}
	const forever = 1 << 30 * time.Second // 99999999 hours are more than a Duration holds
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(min(n, uint64(forever/unit)))*unit)
	return ctx, cancel, nil
}

// read returns the message of a request.
func (u unary) read(r *http.Request) (message []byte, compressed bool, err error) {
	var head [prefix]byte
	if _, err := io.ReadFull(r.Body, head[:]); err != nil {
		return nil, false, incomplete(err)
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > u.limit {
		return nil, false, u.tooLarge()
	}
	b := bytes.NewBuffer(make([]byte, 0, min(n, 1<<20))) // more only after as many bytes have arrived
	if _, err := io.CopyN(b, r.Body, n); err != nil {
		return nil, false, incomplete(err)
	}
	switch _, err := io.ReadFull(r.Body, head[1:2]); {
	case err == nil:
		return nil, false, failure{codeUnimplemented, "the request has several messages"}
	case !errors.Is(err, io.EOF):
		return nil, false, err
	}
	switch encoding := r.Header.Get("Grpc-Encoding"); {
	case head[0] == 0:
		return b.Bytes(), false, nil
	case head[0] != 1 || encoding == "" || encoding == "identity":
		return nil, false, failure{codeInternal, "the message is compressed, and grpc-encoding does not say how"}
	case encoding != compression:
		return nil, false, failure{codeUnimplemented, fmt.Sprintf("messages may be compressed with %s, not with %s", compression, encoding)}
	}
	message, err = u.decompress(b)
	return message, true, err
}

// decompress returns the contents of compressed data, which may not have more bytes than a message.
func (u unary) decompress(data io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(data)
	var message []byte
	if err == nil {
		message, err = io.ReadAll(io.LimitReader(z, u.limit+1))
	}
	switch {
	case err != nil:
		return nil, failure{codeInvalidArgument, "the message cannot be decompressed"}
	case int64(len(message)) > u.limit:
		return nil, u.tooLarge()
	}
	return message, nil
}

func (u unary) tooLarge() error {
	return failure{codeResourceExhausted, fmt.Sprintf("the request has more than %d bytes", u.limit)}
}

// incomplete returns the failure of a body that ends in a message, and other errors as they are.
func incomplete(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return failure{codeInvalidArgument, "the request has no whole message"}
	}
	return err
}
