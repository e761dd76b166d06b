package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// start returns a server on the CPU, and its address. With load, it loads the models.
func start(t *testing.T, c *serveCommand, load bool) (*server, string) {
	t.Helper()
	s, url := startWith(t, c, terminal{io.Discard, io.Discard})
	if load {
		if err := s.preload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return s, url
}

// startWith is start without loading the models, for a server that prints to a terminal.
func startWith(t *testing.T, c *serveCommand, to terminal) (*server, string) {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	c.Requests, c.Parallel = 30, 2
	list, err := c.served()
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.newServer(to, list)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.handler())
	t.Cleanup(func() {
		h.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s, h.URL
}

// ask sends a request, by GET without a body, and returns the status, the answer and its headers.
func ask(t *testing.T, url, body string) (int, string, http.Header) {
	t.Helper()
	get := func() (*http.Response, error) { return http.Get(url) }
	if body != "" {
		get = func() (*http.Response, error) { return http.Post(url, "application/json", strings.NewReader(body)) }
	}
	a, err := get()
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	text, err := io.ReadAll(a.Body)
	if err = errors.Join(err, a.Body.Close()); err != nil {
		t.Error(err)
	}
	return a.StatusCode, string(text), a.Header
}

// answers sends a request, which must succeed with an answer that contains a text.
func answers(t *testing.T, url, body, want string) {
	t.Helper()
	if status, got, _ := ask(t, url, body); status != http.StatusOK || !strings.Contains(got, want) {
		t.Errorf("%s %.100q: %d %s, want %s", url, body, status, got, want)
	}
}

// become waits until a model has a state.
func become(t *testing.T, s *server, name string, want repository.State) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		got, err := s.all.Status(name)
		if err == nil && got.State == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %+v, %v, want %v", name, got, err, want)
		}
	}
}

// used returns the memory in use on the server's device.
func used(t *testing.T, s *server) device.MemoryStats {
	t.Helper()
	m, err := s.device.MemoryStats()
	if err != nil {
		t.Fatal(err)
	}
	return device.MemoryStats{Used: m.Used, Reserved: m.Reserved, Pinned: m.Pinned, Buffers: m.Buffers}
}

// everyKind returns a command that serves two language models, one with an adapter, an embedding model, a cross-encoder, and a model for
// pictures.
func everyKind(t *testing.T) *serveCommand {
	t.Helper()
	return &serveCommand{
		Model: []string{
			"a=" + llamatest.Write(t, llamatest.Options{}), "b=" + llamatest.Write(t, llamatest.Options{}), "e=" + berttest.WriteFolder(t, berttest.Options{}),
			"p=" + resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 6}, 2), "r=" + berttest.WriteFolder(t, berttest.Options{Labels: 1}),
		},
		Adapter: []string{"b:poems=" + llamatest.WriteAdapter(t, 1)},
	}
}

// requests are requests to the models of everyKind, with texts in their answers.
func requests(t *testing.T) []exchange {
	t.Helper()
	return []exchange{
		{"/v1/completions", `{"model": "a", "max_tokens": 3, "prompt": "Hi"}`, `"model":"a"`},
		{"/v1/chat/completions", `{"model": "b", "max_tokens": 3, "temperature": 0, "messages": [{"role": "user", "content": "Hi"}]}`, `"completion_tokens":3`},
		{"/v1/messages", `{"model": "poems", "max_tokens": 3, "messages": [{"role": "user", "content": "Hi"}]}`, `"model":"poems"`},
		{"/v1/embeddings", `{"model": "e", "input": ["the cat", "a"]}`, `"usage":{"prompt_tokens":7,"total_tokens":7}`},
		{"/classify?top=1&model=p", picture(t), `"model":"p"`},
		{"/v1/rerank", `{"model": "r", "query": "the cat", "documents": ["a"]}`, `"usage":{"prompt_tokens":6,"total_tokens":6}`},
		{"/rerank", `{"query": "the cat", "texts": ["a"]}`, `[{"index":0,"score":`},
		{"/v2/models/e/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["the cat"]}]}`, `"name":"embedding","datatype":"FP32","shape":[1,`},
	}
}

// One process serves models of all kinds. Each is loaded by the first requests for it, once, and unloaded when it has been idle. Then the
// device has as much memory as before, and the next request loads the model again.
func TestOnDemand(t *testing.T) {
	c := everyKind(t)
	c.Demand, c.Keep = true, time.Hour
	s, url := start(t, c, true)
	before := used(t, s)
	for loads := int64(1); loads <= 2; loads++ {
		var clients sync.WaitGroup
		for range 3 {
			for _, x := range requests(t) {
				clients.Go(func() { answers(t, url+x.path, x.body, x.want) })
			}
		}
		clients.Wait()
		for _, m := range s.all.List() {
			if m.State != repository.Ready || m.Loads != loads || m.Failures != 0 || m.Waiting != 0 {
				t.Errorf("%+v, want %d loads", m, loads)
			}
		}
		if during := used(t, s); during.Used <= before.Used {
			t.Errorf("%+v with models, %+v without", during, before)
		}
		for _, name := range []string{"a", "b", "e", "p", "r"} {
			if err := s.all.Unload(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		if after := used(t, s); after != before {
			t.Errorf("the device's memory is %+v, and was %+v before the models were loaded", after, before)
		}
	}
}

// Idle models are unloaded while others answer requests.
func TestKeepAlive(t *testing.T) {
	c := everyKind(t)
	c.Demand, c.Keep = true, 20*time.Millisecond
	s, url := start(t, c, true)
	before := used(t, s)
	for range 3 {
		for _, x := range requests(t) {
			answers(t, url+x.path, x.body, x.want)
		}
		for _, name := range []string{"a", "b", "e", "p", "r"} {
			become(t, s, name, repository.Unloaded)
		}
		if after := used(t, s); after != before {
			t.Errorf("the device's memory is %+v, and was %+v before the models were loaded", after, before)
		}
	}
}

// A server warns of a flag -context that asks for more than a model has.
func TestServerContext(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	for flag, want := range map[int]string{0: "", 200: "", 201: "warning: the context of tiny is 200 tokens, not the 201 of -context\n"} {
		var errs strings.Builder
		s, _ := startWith(t, &serveCommand{Model: []string{"tiny=" + path}, Context: flag}, terminal{io.Discard, &errs})
		if err := s.preload(t.Context()); err != nil || errs.String() != want {
			t.Errorf("-context=%d: %v, %q, want %q", flag, err, errs.String(), want)
		}
	}
}

// Answers in progress keep their model loaded, however long they take.
func TestKeepAliveOfAnswers(t *testing.T) {
	s, url := start(t, &serveCommand{Model: []string{llamatest.Write(t, llamatest.Options{})}, Name: "m", Demand: true, Keep: time.Nanosecond}, true)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			answers(t, url+"/v1/completions", `{"model": "m", "max_tokens": 50, "ignore_eos": true, "prompt": "Hi"}`, `"completion_tokens":50`)
		})
	}
	clients.Wait()
	become(t, s, "m", repository.Unloaded)
}

// A model that cannot be loaded does not affect the others.
func TestBrokenModel(t *testing.T) {
	good := llamatest.Write(t, llamatest.Options{})
	s, url := start(t, &serveCommand{Model: []string{"broken=" + t.TempDir(), "good=" + good}}, true)
	answers(t, url+"/v1/completions", `{"model": "good", "max_tokens": 3, "prompt": "Hi"}`, `"model":"good"`)
	answers(t, url+"/health", "", "")
	for _, path := range []string{"/v1/completions", "/v1/chat/completions", "/tokenize"} {
		status, got, header := ask(t, url+path, `{"model": "broken", "prompt": "Hi", "messages": [{"role": "user", "content": "Hi"}]}`)
		if wait, err := strconv.Atoi(header.Get("Retry-After")); status != http.StatusServiceUnavailable || err != nil || wait < 1 || wait > 10 ||
			!strings.Contains(got, `the model \"broken\" cannot be loaded: `) || !strings.Contains(got, `"model_not_loaded"`) {
			t.Errorf("%s: %d %s, Retry-After %q", path, status, got, header.Get("Retry-After"))
		}
	}
	if m, err := s.all.Status("broken"); err != nil || m.Failures != 1 {
		t.Errorf("%+v, %v", m, err) // the requests did not try again
	}
	status, got, _ := ask(t, url+"/v1/completions", `{"model": "none", "prompt": "Hi"}`)
	if status != http.StatusNotFound || !strings.Contains(got, `there is no model \"none\"; there is broken, good`) || !strings.Contains(got, `"model_not_found"`) {
		t.Errorf("an unknown model: %d %s", status, got)
	}
}

// If no model can be loaded at the start, the command fails.
func TestBrokenModels(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	one, two := t.TempDir(), t.TempDir()
	for _, list := range [][]string{{one}, {"a=" + one, "b=" + two}} {
		c := &serveCommand{Model: list, Listen: "localhost:0", Requests: 4, Sockets: 4}
		err := c.Run(t.Context(), terminal{io.Discard, io.Discard})
		if err == nil || !strings.Contains(err.Error(), one) || len(list) > 1 && !strings.Contains(err.Error(), two) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// Clients can load, unload and list models with the requests of Triton and of llama-server.
func TestLoadRequests(t *testing.T) {
	c := everyKind(t)
	c.Demand = true
	s, url := start(t, c, true)
	answers(t, url+"/v2/repository/index", "{}", `[{"name":"a","version":"1","state":"UNAVAILABLE","reason":"unloaded"},`)
	answers(t, url+"/v2/repository/models/a/load", "{}", "")
	answers(t, url+"/models/load", `{"model": "e"}`, `{"success":true}`)
	answers(t, url+"/v2/repository/index", `{"ready": true}`, `[{"name":"a","version":"1","state":"READY"},{"name":"e","version":"1","state":"READY"}]`)
	_, got, _ := ask(t, url+"/v1/models", "")
	var list struct {
		Data []struct {
			ID     string
			Status struct{ Value string }
		}
	}
	if err := json.Unmarshal([]byte(got), &list); err != nil {
		t.Error(err)
	}
	states := ""
	for _, m := range list.Data {
		states += m.ID + " " + m.Status.Value + ", "
	}
	if want := "a loaded, b unloaded, e loaded, p unloaded, poems unloaded, r unloaded, "; states != want {
		t.Errorf("the models are %s, want %s", states, want)
	}
	answers(t, url+"/v2/models/e/ready", "", "")
	answers(t, url+"/v2/health/ready", "", "")
	for path, want := range map[string]int{"/v2/models/p/ready": 503, "/props?model=b": 503, "/props?model=x": 404, "/props": 404, "/slots?model=e": 400} {
		if status, got, _ := ask(t, url+path, ""); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, got, want)
		}
	}
	answers(t, url+"/props?model=a", "", `"model_alias":"a"`)
	answers(t, url+"/slots?model=a", "", `"is_processing":false`)
	answers(t, url+"/lora-adapters?model=b", "", `"path":"poems"`)
	_, got, _ = ask(t, url+"/metrics", "")
	for _, want := range []string{
		`gopherwarp_model_state{model_name="a",state="ready"} 1`, `gopherwarp_model_state{model_name="a",state="unloaded"} 0`, `gopherwarp_model_state{model_name="p",state="unloaded"} 1`,
		`gopherwarp_model_loads_total{model_name="a"} 1`, `gopherwarp_model_load_failures_total{model_name="a"} 0`, `vllm:num_requests_waiting{model_name="b"} 0`,
		`vllm:generation_tokens_total{model_name="a"} 0`, `te_request_count{model_name="e"} 0`, `te_predict_count{model_name="r"} 0`, `nv_inference_request_success{model="p",version="1"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("/metrics has no %s:\n%s", want, got)
		}
	}
	answers(t, url+"/models/unload", `{"model": "a"}`, `{"success":true}`)
	answers(t, url+"/v2/repository/models/e/unload", "{}", "")
	become(t, s, "a", repository.Unloaded)
	become(t, s, "e", repository.Unloaded)
	for _, x := range []struct {
		path, body string
		status     int
	}{
		{"/models/load", `{"model": "x"}`, 404}, {"/models/load", `{}`, 400}, {"/models/unload", `{"model": "poems"}`, 400}, {"/v2/repository/models/x/unload", "{}", 404},
		{"/v2/repository/models/a/load", `{"parameters": {"config": "{}"}}`, 400}, {"/v2/repository/index", "[", 400},
	} {
		if status, got, _ := ask(t, url+x.path, x.body); status != x.status {
			t.Errorf("%s %s: %d %s, want %d", x.path, x.body, status, got, x.status)
		}
	}
}

// If the device has memory for one model only, a request for another model takes the place of one that is not used.
func TestTooLittleMemory(t *testing.T) {
	s, url := start(t, &serveCommand{Model: []string{"a=" + llamatest.Write(t, llamatest.Options{}), "b=" + llamatest.Write(t, llamatest.Options{})}, Demand: true}, true)
	before := used(t, s)
	answers(t, url+"/v1/completions", `{"model": "a", "max_tokens": 3, "prompt": "Hi"}`, `"model":"a"`)
	m, err := s.device.MemoryStats()
	if err != nil {
		t.Fatal(err)
	}
	s.device.SetMemoryLimit(m.Peak + m.Used/2)
	for _, other := range []string{"b", "a", "b"} {
		answers(t, url+"/v1/completions", `{"model": "`+other+`", "max_tokens": 3, "prompt": "Hi"}`, `"model":"`+other+`"`)
		states := 0
		for _, m := range s.all.List() {
			if m.State == repository.Ready && m.Name == other {
				states++
			}
			if m.State == repository.Unloaded && m.Name != other {
				states++
			}
		}
		if states != 2 {
			t.Errorf("after a request for %s, the models are %+v", other, s.all.List())
		}
	}
	s.device.SetMemoryLimit(1)
	if status, got, _ := ask(t, url+"/v1/completions", `{"model": "a", "prompt": "Hi"}`); status != http.StatusServiceUnavailable || !strings.Contains(got, device.ErrMemory.Error()) {
		t.Errorf("without memory: %d %s", status, got)
	}
	if after := used(t, s); after != before { // b was unloaded, but that was not enough
		t.Errorf("the device's memory is %+v, and was %+v before the models were loaded", after, before)
	}
}

// slow adds a language model whose load takes until it is interrupted. begun receives when the load begins.
func slow(t *testing.T, s *server, name string) (begun chan struct{}) {
	t.Helper()
	begun = make(chan struct{}, 1)
	var err error
	s.texts[name], err = repository.Add(s.all, name, func(ctx context.Context) (gate.Model, func() error, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	s.list = append(s.list, served{name: name})
	if err := s.protocols.close(); err != nil {
		t.Error(err)
	}
	if s.protocols, err = s.handle(); err != nil {
		t.Fatal(err)
	}
	return begun
}

// A request waits for its model at most as long as a request may take. In the meantime, others are answered.
func TestSlowLoad(t *testing.T) {
	s, _ := start(t, &serveCommand{Model: []string{"m=" + llamatest.Write(t, llamatest.Options{})}, Timeout: time.Second / 2}, true)
	begun := slow(t, s, "slow")
	h := httptest.NewServer(s.handler())
	defer h.Close()
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() {
			status, got, header := ask(t, h.URL+"/v1/completions", `{"model": "slow", "prompt": "Hi"}`)
			if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" || !strings.Contains(got, `the model is not ready yet: \"slow\" is loading`) {
				t.Errorf("%d %s, Retry-After %q", status, got, header.Get("Retry-After"))
			}
		})
	}
	<-begun
	answers(t, h.URL+"/v1/completions", `{"model": "m", "max_tokens": 3, "prompt": "Hi"}`, `"model":"m"`)
	answers(t, h.URL+"/health", "", "")
	waiting.Wait()
}

// A server that ends while a model is loading ends the requests that wait for it, and the load.
func TestEndWhileLoading(t *testing.T) {
	s, _ := start(t, &serveCommand{Model: []string{llamatest.Write(t, llamatest.Options{})}, Name: "m", Demand: true, Drain: 50 * time.Millisecond}, true)
	begun := slow(t, s, "slow")
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended, asked := make(chan error, 1), make(chan struct{})
	go func() { ended <- s.serve(ctx, socket{Listener: l}) }()
	go func() {
		defer close(asked)
		answer, err := http.Post("http://"+l.Addr().String()+"/v1/completions", "application/json", strings.NewReader(`{"model": "slow", "prompt": "Hi"}`))
		if err != nil {
			return // the server has closed the connection
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the answer is %s, %v", answer.Status, err)
		}
	}()
	<-begun
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	<-asked
}

// For -shutdown-delay, a server that ends is not ready, and answers requests.
func TestShutdownDelay(t *testing.T) {
	s, _ := start(t, &serveCommand{Model: []string{llamatest.Write(t, llamatest.Options{})}, Name: "m", Wait: 2 * time.Second, Drain: time.Minute}, true)
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended, url := make(chan error, 1), "http://"+l.Addr().String()
	go func() { ended <- s.serve(ctx, socket{Listener: l}) }()
	answers(t, url+"/health", "", "")
	stop()
	for begun := time.Now(); ; {
		status, got, _ := ask(t, url+"/health", "")
		if status == http.StatusServiceUnavailable && strings.Contains(got, "the server is shutting down") {
			break
		}
		if time.Since(begun) > time.Second {
			t.Fatalf("/health has status %d: %s", status, got)
		}
	}
	answers(t, url+"/v1/completions", `{"model": "m", "max_tokens": 3, "prompt": "Hi"}`, `"model":"m"`)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener is open")
	}
}

// While a server waits for the end of a request, a second signal ends it at once, also if it has been started with ignored interrupts.
func TestSecondSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes of Windows get no signals")
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", `trap "" INT; exec "$0" "$@"`, os.Args[0], "serve", "-model", llamatest.Write(t, llamatest.Options{}), "-listen", "localhost:0", "-drain", "10m")
	c.Env = append(os.Environ(), asCommand+"=1", "GOPHERWARP_DEVICE=cpu")
	out, err := c.StdoutPipe()
	if err = errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, _ := strings.Cut(strings.TrimSuffix(line, "/v1\n"), "http://")
	if err != nil || address == "" {
		t.Fatalf("the server prints %q, %v", line, err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the answer begins with %q, %v", line, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for s := syscall.SIGTERM; ; s = syscall.SIGINT {
		if err := c.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if code := c.ProcessState.ExitCode(); code != exitFailed {
				t.Errorf("the server ends with the code %d, %v", code, err)
			}
			return
		case <-time.After(50 * time.Millisecond): // the server may not have noticed the first signal
		}
	}
}

// SIGTERM ends a server that is loading its models.
func TestEndWhilePreloading(t *testing.T) {
	s, _ := start(t, &serveCommand{Model: []string{llamatest.Write(t, llamatest.Options{})}, Name: "m"}, false)
	begun := slow(t, s, "slow")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.preload(ctx) }()
	<-begun
	stop()
	if err := <-ended; err != nil {
		t.Errorf("preload returns %v", err)
	}
}

// A server without keys refuses what foreign web pages send. A server with a key answers requests to any host.
func TestForeignPages(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	for _, c := range []struct {
		key, host, origin string
		want              int
	}{
		{"", "", "", 200}, {"", "", "http://localhost:1234", 200}, {"", "evil.example", "", 403}, {"", "", "http://evil.example", 403},
		{"secret", "model.example", "http://page.example", 200}, {"other", "", "", 401},
	} {
		command := &serveCommand{Model: []string{"m=" + path}, Demand: true}
		if c.key != "" {
			command.Key = []string{"secret"}
		}
		_, url := start(t, command, false)
		r, err := http.NewRequest("POST", url+"/models/unload", strings.NewReader(`{"model": "m"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		r.Header.Set("X-Api-Key", c.key)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != c.want {
			t.Errorf("%+v: status %d", c, a.StatusCode)
		}
	}
}
