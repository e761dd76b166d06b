package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/repository"
	"github.com/gopherwarp/gopherwarp/serve/spans"
	"github.com/gopherwarp/gopherwarp/serve/spans/spanstest"
)

// letters is an Embedder whose vectors are the number of bytes and half of it.
type letters struct{}

func (letters) Embed(_ context.Context, texts ...string) (list [][]float32, err error) {
	for _, text := range texts {
		if text == "busy" {
			return nil, batch.ErrFull
		}
		if text == "lost" {
			return nil, errors.New("the device is lost")
		}
		list = append(list, []float32{float32(len(text)), float32(len(text)) / 2})
	}
	return list, nil
}

func (letters) Width(context.Context) (int, error) { return 2, nil }
func (letters) Health(context.Context) error       { return nil }

// serve starts a server for HTTP/2 without TLS, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	return serveTraced(t, nil)
}

// serveTraced is serve with traces.
func serveTraced(t *testing.T, tracer *spans.Tracer) string {
	t.Helper()
	r := repository.New(repository.Options{})
	_, err := repository.Add(r, "e", func(context.Context) (letters, func() error, error) {
		return letters{}, func() error { return nil }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{Others: []string{"e", "always"}, Repository: r, Keys: []string{"secret"}, Body: 1000})
	if err != nil {
		t.Fatal(err)
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h, err := kserve.Handle(g, kserve.Options{Models: map[string]kserve.Model{"e": kserve.Vectors(letters{})}, Metrics: kserve.NewMetrics("e"), Next: next})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(tracer.Handler(Handle(h, h)))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// send sends a message, and returns the status and the message of the answer.
func send(t *testing.T, address, method, message string) (status, answer string) {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/inference.GRPCInferenceService/"+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Authorization": {"Bearer secret"}}
	a, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	got, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) >= 5 {
		got = got[5:]
	}
	return cmp.Or(a.Trailer.Get("Grpc-Status"), a.Header.Get("Grpc-Status")), string(got)
}

// The span of a call has the name of the method, and is an error only if the server has failed.
func TestTraced(t *testing.T) {
	c := spanstest.New(t)
	tracer, err := spans.New(spans.Options{Endpoint: c.URL + "/v1/traces"})
	if err != nil {
		t.Fatal(err)
	}
	address := serveTraced(t, tracer)
	input := "\x0a\x04text\x12\x05BYTES\x18\x01\x2a"
	for _, text := range []string{"\x03\x42\x01a", "\x06\x42\x04busy", "\x06\x42\x04lost"} {
		send(t, address, "ModelInfer", "\x0a\x01e\x2a"+string(rune(len(input)+len(text)))+input+text)
	}
	tracer.Close(t.Context())
	list := c.Spans()
	if len(list) != 3 {
		t.Fatalf("%d spans", len(list))
	}
	for i, want := range []struct {
		status any
		failed bool
	}{{nil, false}, {"RESOURCE_EXHAUSTED", false}, {"INTERNAL", true}} {
		if s := list[i]; s.Name != "inference.GRPCInferenceService/ModelInfer" || s.Attributes["rpc.method"] != s.Name || s.Attributes["rpc.response.status_code"] != want.status || s.Failed != want.failed {
			t.Errorf("got %+v, want %+v", s, want)
		}
	}
}

// TestCalls compares messages with those that the protocol's definition prescribes.
func TestCalls(t *testing.T) {
	address := serve(t)
	always := "\x0a\x14\x0a\x06always\x12\x011\x1a\x05READY\x22\x00" // name, version, state, reason
	input := "\x0a\x04text\x12\x05BYTES\x1a\x01\x02"                 // name, datatype, packed shape
	for _, c := range []struct{ method, message, status, want string }{
		{"ServerLive", "", "0", "\x08\x01"},
		{"ServerReady", "", "0", "\x08\x01"},
		{"ModelReady", "\x0a\x01e\x12\x011", "0", ""},
		{"RepositoryIndex", "", "0", always + "\x0a\x1d\x0a\x01e\x12\x011\x1a\x0bUNAVAILABLE\x22\x08unloaded"},
		{"RepositoryModelLoad", "\x12\x01x", "5", ""},
		{"RepositoryModelLoad", "\x12\x01e\x1a\x03\x0a\x01x", "3", ""},
		{"RepositoryModelLoad", "\x12\x01e", "0", ""},
		{"ModelReady", "\x0a\x01e\x12\x011", "0", "\x08\x01"},
		{"RepositoryIndex", "\x10\x01", "0", always + "\x0a\x0f\x0a\x01e\x12\x011\x1a\x05READY\x22\x00"},
		{"RepositoryModelUnload", "\x12\x01e", "0", ""},
		{"RepositoryIndex", "\x10\x01", "0", always},
		{"RepositoryIndex", "\x12", "3", ""},
		{"ModelReady", "\x0a\x01x", "0", ""},
		{"ServerMetadata", "", "0", "\x0a\x0agopherwarp\x12\x012\x1a\x12binary_tensor_data\x1a\x0eclassification\x1a\x0fschedule_policy\x1a\x10model_repository"},
		{"ModelMetadata", "\x0a\x01e", "0", "\x0a\x01e\x12\x011\x1a\x0agopherwarp\x22\x19\x0a\x04text\x12\x05BYTES\x1a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x1e\x0a\x09embedding\x12\x04FP32\x1a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"},
		{"ModelInfer", "\x0a\x01e\x1a\x017\x2a\x10" + input + "\x3a\x0c\x03\x00\x00\x00abc\x01\x00\x00\x00d", "0",
			"\x0a\x01e\x12\x011\x1a\x017\x2a\x15\x0a\x09embedding\x12\x04FP32\x1a\x02\x02\x02\x32\x10\x00\x00\x40\x40\x00\x00\xc0\x3f\x00\x00\x80\x3f\x00\x00\x00\x3f"},
		{"ModelInfer", "\x0a\x01e\x2a\x1a" + input + "\x2a\x08\x42\x03abc\x42\x01d", "0",
			"\x0a\x01e\x12\x011\x1a\x00\x2a\x15\x0a\x09embedding\x12\x04FP32\x1a\x02\x02\x02\x32\x10\x00\x00\x40\x40\x00\x00\xc0\x3f\x00\x00\x80\x3f\x00\x00\x00\x3f"},
		{"ModelInfer", "\x0a\x01x", "5", ""},
		{"ModelInfer", "\x0a\x01e\x3a\x00", "3", ""},
		{"ModelInfer", "\x0a\x01e\x2a\x1a" + input + "\x2a\x08\x42\x03abc\x42\x01d\x3a\x00", "3", ""},
		{"ModelInfer", "\x0a\x01e\x2a\x17\x0a\x04text\x12\x05BYTES\x18\x01\x2a\x06\x42\x04busy", "8", ""},
		{"ModelInfer", "\x0a\x09", "3", ""},
		{"ModelInfer", strings.Repeat("x", 1001), "8", ""},
		{"ModelConfig", "", "12", ""},
	} {
		if status, got := send(t, address, c.method, c.message); status != c.status || got != c.want {
			t.Errorf("%s %q: status %s, %q, want %s, %q", c.method, c.message, status, got, c.status, c.want)
		}
	}
	var q inferQuestion // with the priority as Triton's client for Python sends it
	if err := q.read([]byte("\x0a\x01e\x22\x0e\x0a\x08priority\x12\x02\x28\x01\x22\x0f\x0a\x07timeout\x12\x04\x10\xc0\x84\x3d\x22\x07\x0a\x01x\x12\x02\x08\x01")); err != nil {
		t.Fatal(err)
	}
	if r, err := q.request(); err != nil || r.Priority != 1 || r.Timeout != 1000000 {
		t.Errorf("got %+v, %v", r, err)
	}
	a, err := http.Get("http://" + address + "/other")
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusTeapot {
		t.Errorf("another request: %d", a.StatusCode)
	}
}

// TestTritonGRPC talks to a server with Triton's client.
func TestTritonGRPC(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.Command(python, "-c", "import tritonclient.grpc").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import tritonclient.grpc, which pip installs as tritonclient[all]; GOPHERWARP_PYTHON names another Python: %v\n%s", python, err, out)
	}
	out, err := exec.Command(python, filepath.Join("testdata", "triton_grpc.py"), serve(t), "secret").CombinedOutput()
	if err != nil {
		t.Fatalf("triton_grpc.py: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// FuzzMessage checks that bytes are a request or an error, and that its parts are not larger than they are.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x0a\x01e\x1a\x017\x2a\x10\x0a\x04text\x12\x05BYTES\x1a\x01\x02\x3a\x0c\x03\x00\x00\x00abc\x01\x00\x00\x00d"))
	f.Add([]byte("\x0a\x01e\x2a\x17\x0a\x04text\x12\x05BYTES\x18\x01\x2a\x06\x42\x04busy"))
	f.Add([]byte("\x32\x1b\x0a\x01x\x12\x16\x0a\x0eclassification\x12\x02\x10\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var q inferQuestion
		var n modelName
		var repository repositoryQuestion
		if err := errors.Join(q.read(data), n.read(data), repository.read(data)); err != nil {
			return
		}
		r, err := q.request()
		if err != nil {
			if gate.FailureOf(err).Status != http.StatusBadRequest {
				t.Errorf("%v", err)
			}
			return
		}
		size := 0
		for _, x := range r.Inputs {
			size += len(x.Name) + len(x.Shape)
			for _, b := range x.Bytes {
				size += 1 + len(b)
			}
		}
		if size > 2*len(data) {
			t.Errorf("%d bytes of %d", size, len(data))
		}
	})
}
