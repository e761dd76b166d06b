package kserve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// letters is an Embedder whose vectors are the number of bytes and half of it.
type letters struct{ lost *atomic.Bool }

func (l letters) Embed(ctx context.Context, texts ...string) (list [][]float32, err error) {
	if err := l.Health(ctx); err != nil {
		return nil, err
	}
	for _, text := range texts {
		if text == "busy" {
			return nil, batch.ErrFull
		}
		list = append(list, []float32{float32(len(text)), float32(len(text)) / 2})
	}
	return list, nil
}

func (letters) Width(context.Context) (int, error) { return 2, nil }

func (l letters) Health(context.Context) error {
	if l.lost.Load() {
		return errors.New("the device is lost")
	}
	return nil
}

// sizes is a Classifier whose classes say whether a file is short, of 2 bytes, or long.
type sizes struct{}

func (sizes) Classify(_ context.Context, files ...[]byte) (list [][]classify.Class, err error) {
	for _, data := range files {
		c := []classify.Class{{Index: 0, Probability: 0.25}, {Index: 1, Probability: 0.125}, {Index: 2, Probability: 0.125}}
		c[1+min(max(len(data)-2, -1), 1)].Probability = 0.75
		list = append(list, c)
	}
	return list, nil
}

func (sizes) Classes(context.Context) (int, error) { return 3, nil }
func (sizes) Labels() []string                     { return []string{"short", "two"} }
func (sizes) Health(context.Context) error         { return nil }

// options returns what the tests serve, and a switch that takes the device away.
func options(tb testing.TB) (kserve.Options, *gate.Gate, *atomic.Bool) {
	tb.Helper()
	r := repository.New(repository.Options{})
	for name, broken := range map[string]error{"m": nil, "broken": errors.New("no file")} {
		_, err := repository.Add(r, name, func(context.Context) (string, func() error, error) { return name, func() error { return nil }, broken })
		if err != nil {
			tb.Fatal(err)
		}
	}
	g, err := gate.New(gate.Options{Others: []string{"e", "p", "m", "broken"}, Repository: r, Body: 10000, Time: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	lost := new(atomic.Bool)
	return kserve.Options{
		Models:  map[string]kserve.Model{"e": kserve.Vectors(letters{lost}), "p": kserve.Pictures(sizes{})},
		Metrics: kserve.NewMetrics("e", "p"), Next: http.NotFoundHandler(),
	}, g, lost
}

// serve starts a server.
func serve(t *testing.T) (string, kserve.Options, *atomic.Bool) {
	t.Helper()
	o, g, lost := options(t)
	h, err := kserve.Handle(g, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, o, lost
}

// send sends a request, by GET without a body, and returns the status and the answer.
func send(t *testing.T, url, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, strings.TrimSpace(string(text)), a.Header
}

func TestHTTP(t *testing.T) {
	url, _, _ := serve(t)
	for _, c := range []struct{ path, body, want string }{
		{"/v2", "", `{"extensions":["binary_tensor_data","classification","schedule_policy","model_repository"],"name":"gopherwarp","version":"2"}`},
		{"/v2/health/live", "", ""}, {"/v2/health/ready", "", ""}, {"/v2/models/e/ready", "", ""}, {"/v2/models/p/versions/1/ready", "", ""},
		{"/v2/models/e", "", `{"inputs":[{"name":"text","datatype":"BYTES","shape":[-1]}],"name":"e","outputs":[{"name":"embedding","datatype":"FP32","shape":[-1,2]}],"platform":"gopherwarp","versions":["1"]}`},
		{"/v2/models/p", "", `{"inputs":[{"name":"picture","datatype":"BYTES","shape":[-1]}],"name":"p","outputs":[{"name":"probabilities","datatype":"FP32","shape":[-1,3]}],"platform":"gopherwarp","versions":["1"]}`},
		{"/v2/models/e/infer", `{"id": "7", "inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["abc", "d"]}]}`,
			`{"id":"7","model_name":"e","model_version":"1","outputs":[{"name":"embedding","datatype":"FP32","shape":[2,2],"data":[3,1.5,1,0.5]}]}`},
		{"/v2/models/e/versions/1/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": [["abc"], ["d"]]}]}`,
			`{"model_name":"e","model_version":"1","outputs":[{"name":"embedding","datatype":"FP32","shape":[2,2],"data":[3,1.5,1,0.5]}]}`},
		{"/v2/models/p/infer", `{"inputs": [{"name": "picture", "datatype": "BYTES", "shape": [2], "data": ["ab", "abc"]}], "outputs": [{"name": "probabilities", "parameters": {"classification": 2}}]}`,
			`{"model_name":"p","model_version":"1","outputs":[{"name":"probabilities","datatype":"BYTES","shape":[2,2],"data":["0.750000:1:two","0.250000:0:short","0.750000:2","0.250000:0:short"]}]}`},
	} {
		if status, got, _ := send(t, url+c.path, c.body); status != http.StatusOK || got != c.want {
			t.Errorf("%s: %d %s, want %s", c.path, status, got, c.want)
		}
	}
}

// Inputs and outputs may be binary.
func TestBinary(t *testing.T) {
	url, _, _ := serve(t)
	head := `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "parameters": {"binary_data_size": 12}}], "parameters": {"binary_data_output": true}}`
	status, got, header := send(t, url+"/v2/models/e/infer", head+"\x03\x00\x00\x00abc\x01\x00\x00\x00d", "Inference-Header-Content-Length", fmt.Sprint(len(head)))
	want := `{"model_name":"e","model_version":"1","outputs":[{"name":"embedding","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}]}`
	if status != http.StatusOK || header.Get("Inference-Header-Content-Length") != fmt.Sprint(len(want)) || got != want+"\x00\x00\x40\x40\x00\x00\xc0\x3f\x00\x00\x80\x3f\x00\x00\x00\x3f" {
		t.Errorf("%d %q %v", status, got, header)
	}
}

func TestMistakes(t *testing.T) {
	url, o, lost := serve(t)
	text := func(rest string) string { return `{"inputs": [{"name": "text", "datatype": "BYTES", ` + rest + `}]}` }
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v2/models/x", "", 404, "there is no model"},
		{"/v2/models/e/versions/2", "", 404, "has no version"},
		{"/v2/models/e/infer", "{", 400, "not a request in JSON"},
		{"/v2/models/e/infer", "{}", 400, "one input"},
		{"/v2/models/e/infer", `{"inputs": [null]}`, 400, "input 0 is null"},
		{"/v2/models/e/infer", `{"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": ["a"]}]}`, 400, "one input"},
		{"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "FP32", "shape": [1], "data": [1]}]}`, 400, "the datatype is"},
		{"/v2/models/e/infer", text(`"shape": [1], "data": [1]`), 400, "not texts"},
		{"/v2/models/e/infer", text(`"shape": [1], "data": [[["a"]]]`), 400, "not texts"},
		{"/v2/models/e/infer", text(`"shape": [2], "data": ["a"]`), 400, "1 elements, the shape is [2]"},
		{"/v2/models/e/infer", text(`"shape": [0], "data": []`), 400, "no elements"},
		{"/v2/models/e/infer", text(`"shape": [-1], "data": ["a"]`), 400, "the shape is [-1]"},
		{"/v2/models/e/infer", text(`"shape": [4294967296, 4294967296], "data": ["a"]`), 400, "the shape is"},
		{"/v2/models/e/infer", text(`"shape": [1], "parameters": {"binary_data_size": 5}`), 400, "of which the body has 0"},
		{"/v2/models/e/infer", text(`"shape": [1], "data": ["a"]`)[:70] + strings.Repeat(" ", 10000), 413, "more than 10000 bytes"},
		{"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}], "outputs": [{"name": "x"}]}`, 400, "no output"},
		{"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}], "outputs": [{"name": "embedding", "parameters": {"classification": -1}}]}`, 400, "-1 classes"},
		{"/v2/models/e/infer", text(`"shape": [1], "data": ["busy"]`), 429, "too many texts"},
	} {
		if status, got, _ := send(t, url+c.path, c.body); status != c.status || !strings.Contains(got, c.want) || !strings.HasPrefix(got, `{"error":`) {
			t.Errorf("%s %.80s: %d %s, want %d %s", c.path, c.body, status, got, c.status, c.want)
		}
	}
	for length, want := range map[string]string{"x": "Content-Length is", "-1": "Content-Length is", "99": "Content-Length is"} {
		if status, got, _ := send(t, url+"/v2/models/e/infer", "{}", "Inference-Header-Content-Length", length); status != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", length, status, got)
		}
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 20000)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		encoding, body string
		status         int
	}{{"gzip", bomb.String(), 413}, {"gzip", "x", 400}, {"deflate", bomb.String(), 400}, {"br", "x", 415}} {
		if status, got, _ := send(t, url+"/v2/models/e/infer", c.body, "Content-Encoding", c.encoding); status != c.status {
			t.Errorf("%s: %d %s, want %d", c.encoding, status, got, c.status)
		}
	}
	for raw, want := range map[string]string{"\x05\x00\x00\x00a": "element 0 is cut off", "\x01\x00": "element 0 is cut off", "\xff\xff\xff\xffa": "cut off", "\x01\x00\x00\x00\xff": "not in UTF-8"} {
		head := fmt.Sprintf(`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d}}]}`, len(raw))
		if status, got, _ := send(t, url+"/v2/models/e/infer", head+raw, "Inference-Header-Content-Length", fmt.Sprint(len(head))); status != 400 || !strings.Contains(got, want) {
			t.Errorf("%q: %d %s", raw, status, got)
		}
	}
	lost.Store(true)
	for path, want := range map[string]int{"/v2/health/live": 200, "/v2/health/ready": 503, "/v2/models/e/ready": 503, "/v2/models/p/ready": 200} {
		if status, got, _ := send(t, url+path, ""); status != want {
			t.Errorf("%s without the device: %d %s", path, status, got)
		}
	}
	o.Models["x"] = o.Models["e"]
	_, g, _ := options(t)
	if _, err := kserve.Handle(g, o); !errors.Is(err, gate.ErrOptions) {
		t.Errorf("a model that the gate does not know: %v", err)
	}
}

// Clients load, unload and list models.
func TestRepository(t *testing.T) {
	url, o, lost := serve(t)
	lists := []string{
		`[{"name":"broken","version":"1","state":"UNAVAILABLE","reason":"unloaded"},{"name":"e","version":"1","state":"READY"},{"name":"m","version":"1","state":"UNAVAILABLE","reason":"unloaded"},{"name":"p","version":"1","state":"READY"}]`,
		`[{"name":"e","version":"1","state":"READY"},{"name":"m","version":"1","state":"READY"},{"name":"p","version":"1","state":"READY"}]`,
		`[{"name":"broken","version":"1","state":"UNAVAILABLE","reason":"no file"},{"name":"e","version":"1","state":"READY"},{"name":"m","version":"1","state":"UNAVAILABLE","reason":"unloaded"},{"name":"p","version":"1","state":"READY"}]`,
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"index", " ", 200, lists[0]},
		{"models/m/load", "{}", 200, ""},
		{"models/broken/load", " ", 503, `{"error":"the model \"broken\" cannot be loaded: no file"}`},
		{"index", `{"ready": true}`, 200, lists[1]},
		{"models/m/unload", `{"parameters": {"unload_dependents": false}}`, 200, ""},
		{"index", "{}", 200, lists[2]},
		{"models/e/load", "{}", 400, `{"error":"\"e\" cannot be loaded or unloaded"}`},
		{"models/m/load", `{"parameters": {"config": "{}"}}`, 400, `{"error":"parameters is not supported"}`},
		{"index", "1", 400, `{"error":"the body is not a request in JSON: json: cannot unmarshal number into Go value of type kserve.indexRequest"}`},
	} {
		if status, got, _ := send(t, url+"/v2/repository/"+c.path, c.body); status != c.status || got != c.want {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, status, got, c.status, c.want)
		}
	}
	if status, got, _ := send(t, url+"/v2", ""); status != 200 || !strings.Contains(got, `"model_repository"`) {
		t.Errorf("%d %s", status, got)
	}
	g, err := gate.New(gate.Options{Others: []string{"e"}})
	if err != nil {
		t.Fatal(err)
	}
	delete(o.Models, "p")
	o.Health = func(context.Context) error { return errors.New("another model is ill") }
	h, err := kserve.Handle(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if list := h.Index(false); len(list) != 1 || list[0].State != "READY" || h.Load(t.Context(), "e") == nil || len(h.Extensions()) != 3 {
		t.Errorf("without a repository: %+v, %v", list, h.Extensions())
	}
	if err := h.Ready(t.Context()); err == nil || err.Error() != "another model is ill" {
		t.Errorf("Ready returns %v", err)
	}
	lost.Store(true)
	if err := h.ModelReady(t.Context(), "e", ""); gate.FailureOf(err).Status != http.StatusServiceUnavailable {
		t.Errorf("ModelReady returns %v", err)
	}
}

// queued is an Embedder whose vectors are computed one after another, in the order of a queue. It says when a computation begins, and waits
// until it may go on.
type queued struct {
	letters
	queue     *batch.Queue[string, []float32]
	begun, on chan string
}

func newQueued(t *testing.T) *queued {
	q := &queued{begun: make(chan string), on: make(chan string)}
	var err error
	q.queue, err = batch.New(batch.Options[string, []float32]{Most: 1, Queue: 10, Run: func(_ context.Context, texts []string) ([][]float32, error) {
		q.begun <- texts[0]
		<-q.on
		return [][]float32{{0, 0}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (q *queued) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	return q.queue.Do(ctx, texts...)
}

// Requests with a smaller priority are computed first: 1 is the highest one, and 0 and 2 are that of requests without a priority. A request
// ends after its timeout.
func TestSchedule(t *testing.T) {
	q := newQueued(t)
	o, g, _ := options(t)
	o.Models = map[string]kserve.Model{"e": kserve.Vectors(q)}
	h, err := kserve.Handle(g, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	defer q.queue.Close()
	infer := func(text, parameters string) (int, string) {
		status, got, _ := send(t, s.URL+"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["`+text+`"]}], "parameters": `+parameters+`}`)
		return status, got
	}
	var all sync.WaitGroup
	for i, c := range []struct{ text, parameters string }{
		{"first", "{}"}, {"a", `{"priority": 3}`}, {"b", `{"priority": 0}`}, {"c", `{"priority": 2, "timeout": 60000000}`}, {"d", `{}`}, {"e", `{"priority": 9223372036854775807}`}, {"f", `{"priority": 1}`},
	} {
		all.Go(func() {
			if status, got := infer(c.text, c.parameters); status != 200 {
				t.Errorf("%s: %d %s", c.text, status, got)
			}
		})
		if i == 0 {
			<-q.begun
			continue
		}
		for q.queue.Stats().Waiting < i {
			time.Sleep(time.Millisecond)
		}
	}
	for parameters, want := range map[string]struct {
		status int
		text   string
	}{`{"timeout": 1000}`: {504, "took too long"}, `{"priority": -1}`: {400, "negative"}, `{"timeout": -1}`: {400, "negative"}, `{"priority": "high"}`: {400, "priority"}} {
		if status, got := infer("late", parameters); status != want.status || !strings.Contains(got, want.text) {
			t.Errorf("%s: %d %s", parameters, status, got)
		}
	}
	order := ""
	for range 6 {
		q.on <- ""
		order += <-q.begun
	}
	q.on <- ""
	if all.Wait(); order != "fbcdae" {
		t.Errorf("the order is %s", order)
	}
}

// triton lists the metrics in Triton's documentation from which dashboards (such as number 12832 at grafana.com) are made, other than those
// of GPUs, with the values after one request of two elements and one that is refused.
var triton = map[string]string{
	"nv_inference_request_success": "1", "nv_inference_request_failure": "1", "nv_inference_count": "2", "nv_inference_exec_count": "1",
	"nv_inference_queue_duration_us": "3000", "nv_inference_compute_infer_duration_us": "5000", "nv_inference_compute_input_duration_us": "0",
	"nv_inference_compute_output_duration_us": "0", "nv_inference_pending_request_count": "0",
}

// Each metric of Triton is there before and after requests.
func TestMetrics(t *testing.T) {
	url, o, _ := serve(t)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o.Metrics)
	scraped := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer scraped.Close()
	_, before, _ := send(t, scraped.URL, "")
	o.Metrics.Observe("e", batch.Report{Items: 2, Took: 5 * time.Millisecond, Waits: []time.Duration{time.Millisecond, 2 * time.Millisecond}})
	o.Metrics.Observe("e", batch.Report{Items: 2, Err: errors.New("broken")})
	send(t, url+"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["abc", "d"]}]}`)
	send(t, url+"/v2/models/e/infer", `{}`)
	_, after, _ := send(t, scraped.URL, "")
	for name, want := range triton {
		if line := name + `{model="e",version="1"} `; !strings.Contains(before, line+"0") || !strings.Contains(after, line+want) {
			t.Errorf("there is no %s%s in\n%s", line, want, after)
		}
	}
	if !strings.Contains(after, `nv_inference_request_duration_us{model="e",version="1"} `) || strings.Contains(after, `nv_inference_request_duration_us{model="e",version="1"} 0`) {
		t.Errorf("no duration of requests in\n%s", after)
	}
}

// FuzzInfer checks that no body makes the server fail.
func FuzzInfer(f *testing.F) {
	head := `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}], "parameters": {"binary_data_output": true}}`
	f.Add([]byte(head+"\x01\x00\x00\x00a"), len(head))
	f.Add([]byte(`{"id": "7", "inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": [["abc"], "d"]}]}`), -1)
	f.Add([]byte(`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": "a"}], "outputs": [{"name": "embedding", "parameters": {"classification": 1, "binary_data": false}}]}`), -1)
	o, g, _ := options(f)
	h, err := kserve.Handle(g, o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, head int) {
		r, w := httptest.NewRequest("POST", "/v2/models/e/infer", bytes.NewReader(body)), httptest.NewRecorder()
		if head >= 0 {
			r.Header.Set("Inference-Header-Content-Length", fmt.Sprint(head))
		}
		h.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code != 200 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%.100q: %d %s", body, w.Code, w.Body)
		}
	})
}
