package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"image"
	"image/png"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// Servers answer requests and end when their contexts do.
func TestServe(t *testing.T) {
	adapters := []string{"one=" + llamatest.WriteAdapter(t, 1), "two=" + llamatest.WriteAdapter(t, 2), llamatest.WriteAdapter(t, 3)}
	pictures := resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 6}
	for _, c := range []struct{ model, path, body, want string }{
		{llamatest.Write(t, llamatest.Options{}), "/v1/completions", `{"model": "two", "max_tokens": 3, "prompt": "Hi"}`, `"model":"two"`},
		{llamatest.Write(t, llamatest.Options{}), "/v1/chat/completions", `{"max_tokens": 3, "temperature": 0, "messages": [{"role": "user", "content": "Hi"}]}`, `"completion_tokens":3`},
		{berttest.WriteFolder(t, berttest.Options{}), "/v1/embeddings", `{"input": ["the cat", "a"]}`, `"usage":{"prompt_tokens":7,"total_tokens":7}`},
		{llamatest.Write(t, llamatest.Options{}), "/v1/embeddings", `{"input": "the cat", "encoding_format": "base64"}`, `"usage":{"prompt_tokens":7,"total_tokens":7}`},
		{berttest.WriteFolder(t, berttest.Options{Labels: 1}), "/v1/rerank", `{"query": "the cat", "documents": ["a", "a dog"]}`, `"usage":{"prompt_tokens":13,"total_tokens":13}}`},
		{berttest.WriteFolder(t, berttest.Options{}), "/v2/models/tiny/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["the cat"]}]}`, `"name":"embedding","datatype":"FP32","shape":[1,`},
		{resnettest.Write(t, pictures, 2), "/classify?top=1", picture(t), `{"classes":[{"class":`},
		{resnettest.Write(t, pictures, 2), "/v2/models/tiny/infer", `{"inputs": [{"name": "picture", "datatype": "BYTES", "shape": [1], "data": ["x"]}]}`, `{"error":"classify: not a picture`},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Setenv("GOPHERWARP_DEVICE", "cpu")
			s := &serveCommand{Model: []string{c.model}, Name: "tiny", Listen: "localhost:0", Requests: 4, Sockets: 4, Drain: time.Minute}
			switch {
			case c.path == "/v1/completions":
				s.Adapter, s.DraftMax = adapters, 3
			case c.path == "/v1/rerank":
				s.Profiles = "localhost:0"
			case strings.Contains(c.body, "base64"):
				s.Pooling = "last"
			}
			checkServe(t, s, exchange{c.path, c.body, c.want})
		})
	}
}

// picture returns a file.
func picture(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// exchange is a request, and a text in its answer.
type exchange struct{ path, body, want string }

// checkServe sends a request to a server.
func checkServe(t *testing.T, c *serveCommand, x exchange) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(c.Run(ctx, terminal{w, io.Discard}), w.Close()) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSuffix(line, "/v1\n"), "serving tiny at ")
	if err != nil || !ok {
		t.Fatalf("the server prints %q, %v", line, err)
	}
	got, err := http.Post(url+x.path, "application/json", strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err = errors.Join(err, got.Body.Close()); err != nil || (got.StatusCode != http.StatusOK) != strings.HasPrefix(x.want, `{"error"`) || !strings.Contains(string(text), x.want) {
		t.Errorf("%v, %d: %s", err, got.StatusCode, text)
	}
	if runtime.GOOS == "windows" {
		stop()
	} else if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(syscall.SIGTERM) != nil {
		t.Errorf("no SIGTERM: %v", err)
		stop()
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func TestServeFlags(t *testing.T) {
	keys, none := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "none")
	if err := errors.Join(os.WriteFile(keys, []byte("# of us\none\n\n two\r\n"), 0o600), os.WriteFile(none, []byte("#x\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command serveCommand
		want    string
	}{
		{serveCommand{Listen: ":8080"}, "which needs -key"},
		{serveCommand{Listen: "0.0.0.0:8080"}, "which needs -key"},
		{serveCommand{Listen: "localhost"}, "missing port"},
		{serveCommand{Listen: "localhost:1", Requests: -1}, "-requests and -connections must be positive"},
		{serveCommand{Listen: "localhost:1", Sockets: -1}, "-requests and -connections must be positive"},
		{serveCommand{Listen: "localhost:1", Drain: -1}, "-drain, -parallel and -timeout must not be negative"},
		{serveCommand{Listen: "localhost:1", Timeout: -1}, "-drain, -parallel and -timeout must not be negative"},
		{serveCommand{Listen: "localhost:1", Parallel: -1}, "must not be negative"},
		{serveCommand{Listen: "localhost:1", Requests: 1, Sockets: 1, Queue: -1}, "must not be negative"},
		{serveCommand{Context: -1, Listen: "localhost:1"}, "-context, -keep-alive,"},
		{serveCommand{Keep: -1, Listen: "localhost:1"}, "-context, -keep-alive,"},
		{serveCommand{Model: []string{"a/m", "b/m.gguf"}, Listen: "localhost:1"}, `another model has the name "m"`},
		{serveCommand{Model: []string{"=m"}, Listen: "localhost:1"}, `the name or the path is empty`},
		{serveCommand{Model: []string{"a", "b"}, Name: "m", Listen: "localhost:1"}, "-name and -any-name are for a single model"},
		{serveCommand{Model: []string{"a", "b"}, AnyName: true, Listen: "localhost:1"}, "-name and -any-name are for a single model"},
		{serveCommand{Model: []string{"a", "b"}, Adapter: []string{"x=c"}, Listen: "localhost:1"}, "x=c does not begin with the name of one of the models"},
		{serveCommand{Model: []string{"a", "b"}, Adapter: []string{"a:b=c"}, Listen: "localhost:1"}, `-adapter: "b" is empty, or the name`},
		{serveCommand{Model: []string{"a", "b"}, Adapter: []string{"a:x=c", "b:x=c"}, Listen: "localhost:1"}, `-adapter: "x" is empty, or the name`},
		{serveCommand{Model: []string{berttest.WriteFolder(t, berttest.Options{})}, Adapter: []string{"x=c"}, Listen: "localhost:1"}, "is not a language model"},
		{serveCommand{Model: []string{"a", "b"}, Labels: "x", Listen: "localhost:1"}, "x: no such file"},
		{serveCommand{Model: []string{"a", "b"}, Labels: keys, Listen: "localhost:1"}, "-labels is for one model for pictures, and there are 0"},
		{serveCommand{Model: []string{"a=b", "org/c=d"}, Adapter: []string{"org/c:x=e"}, Listen: "localhost:1"}, ""},
		{serveCommand{Listen: "localhost:1", Adapter: []string{"a", "b"}}, "a and b have no names"},
		{serveCommand{Listen: "localhost:1", Adapter: []string{"a=b", "a=c"}}, `-adapter: "a" is empty, or the name`},
		{serveCommand{Listen: "localhost:1", Adapter: []string{"=c"}}, `-adapter: "" is empty`},
		{serveCommand{Listen: "localhost:1", Adapter: []string{"m=c"}, Name: "m"}, `-adapter: "m" is empty`},
		{serveCommand{Listen: "localhost:1", TLSCert: "x"}, "-tls-cert and -tls-key need each other"},
		{serveCommand{Listen: "localhost:1", KeyFile: none}, "has no keys"},
		{serveCommand{Listen: "localhost:1", KeyFile: none + "x"}, "no such file"},
		{serveCommand{Listen: ":8080", Key: []string{"x"}}, ""},
		{serveCommand{Listen: ":8080", Key: []string{"x"}, KeyFile: keys}, ""},
		{serveCommand{Listen: "[::1]:8080"}, ""},
		{serveCommand{Listen: "localhost:1", Profiles: ":6060"}, "-pprof=:6060 is not an address"},
		{serveCommand{Listen: "localhost:1", Profiles: "10.0.0.1:6060", Key: []string{"x"}}, "-pprof=10.0.0.1:6060 is not an address"},
		{serveCommand{Listen: "localhost:1", Profiles: "localhost"}, "-pprof=localhost is not an address"},
		{serveCommand{Listen: "localhost:1", Profiles: "127.0.0.1:6060"}, ""},
	} {
		c.command.Requests, c.command.Sockets = c.command.Requests+1, c.command.Sockets+1
		if c.command.Model == nil {
			c.command.Model = []string{"model"}
		}
		list, err := c.command.served()
		if err = cmp.Or(c.command.check(), err); err == nil {
			_, err = c.command.readLabels(list)
		}
		if c.command.KeyFile == keys && !slices.Equal(c.command.Key, []string{"x", "one", "two"}) {
			t.Errorf("the keys are %q", c.command.Key)
		}
		if c.want == "" && err == nil {
			continue
		}
		if e, ok := errors.AsType[exit](err); !ok || e.code != exitUsage || !strings.Contains(err.Error(), c.want) || c.want == "" {
			t.Errorf("%+v: %v, want %q", c.command, err, c.want)
		}
	}
}

// certify writes a certificate for localhost and its key, and returns a client that trusts it.
func certify(t *testing.T) (cert, key string, client *http.Client) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(cert, public, 0o600), os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return cert, key, &http.Client{Transport: transport}
}

// With a certificate, the server encrypts. All protocols and the page are there.
func TestServeTLS(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	c := &serveCommand{Model: []string{llamatest.Write(t, llamatest.Options{})}, Name: "tiny", Listen: "localhost:0", Requests: 4, Sockets: 4, Drain: time.Minute}
	var client *http.Client
	c.TLSCert, c.TLSKey, client = certify(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(c.Run(ctx, terminal{w, io.Discard}), w.Close()) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving tiny at https://")
	if err != nil || !ok {
		t.Fatalf("the server prints %q, %v", line, err)
	}
	url = "https://" + strings.TrimSuffix(url, "/v1")
	for _, q := range []struct{ path, body, want string }{
		{"/", "", "<title>Gopherwarp</title>"}, {"/page/page.js", "", "fetch("}, {"/v1/models", "", `"id":"tiny"`}, {"/health", "", ""},
		{"/v1/messages", `{"max_tokens": 3, "temperature": 0, "messages": [{"role": "user", "content": "Hi"}]}`, `"output_tokens":3`},
		{"/v1/messages/count_tokens", `{"messages": [{"role": "user", "content": "Hi"}]}`, `{"input_tokens":11}`},
		{"/v1/responses", `{"max_output_tokens": 16, "input": "Hi"}`, `"object":"response"`},
	} {
		got, err := client.Get(url + q.path)
		if q.body != "" && err == nil {
			got.Body.Close()
			got, err = client.Post(url+q.path, "application/json", strings.NewReader(q.body))
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		if err = errors.Join(err, got.Body.Close()); err != nil || got.StatusCode != http.StatusOK || got.ProtoMajor != 2 || !strings.Contains(string(text), q.want) {
			t.Errorf("%s: %v, %s %d: %s", q.path, err, got.Proto, got.StatusCode, text)
		}
	}
	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	c.TLSKey = c.TLSCert
	if err := c.Run(t.Context(), terminal{io.Discard, io.Discard}); err == nil || !strings.Contains(err.Error(), "-tls-cert and -tls-key") {
		t.Errorf("a certificate without its key: %v", err)
	}
}

func TestServedName(t *testing.T) {
	equal := filepath.Join(t.TempDir(), "a=b.gguf")
	if err := os.WriteFile(equal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]string{
		"a/b.Q4_1.gguf": {"b.Q4_1", "a/b.Q4_1.gguf"}, "a/folder/": {"folder", "a/folder/"}, "org/a=b/c=d": {"org/a", "b/c=d"}, equal: {"a=b", equal},
	} {
		if m := named(text); m.name != want[0] || m.path != want[1] {
			t.Errorf("the name of %s is %q, and the path is %q; want %q", text, m.name, m.path, want)
		}
	}
}
