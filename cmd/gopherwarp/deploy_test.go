package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// deployed is what the test reads of the files that start a server: of a file for Docker Compose, or of a Kubernetes object.
type deployed struct {
	Services map[string]struct{ Command []string }
	Kind     string
	Spec     struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args  []string
					Ports []struct {
						ContainerPort int `yaml:"containerPort"`
					}
					StartupProbe   probe `yaml:"startupProbe"`
					ReadinessProbe probe `yaml:"readinessProbe"`
					LivenessProbe  probe `yaml:"livenessProbe"`
				}
			}
		}
	}
}

// probe is a request that tests a server.
type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// readYAML returns the documents of a file.
func readYAML(t *testing.T, name string) (list []deployed) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var x deployed
		err := d.Decode(&x)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, x)
	}
}

// checkArgs checks arguments of the program that start a server.
func checkArgs(t *testing.T, args []string) {
	t.Helper()
	t.Setenv("GOPHERWARP_API_KEY", "secret")
	var c commands
	if _, err := newParser(&c).Parse(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if err := c.Serve.check(); err != nil || c.Serve.Listen != ":8080" || len(c.Serve.Model) == 0 {
		t.Errorf("%q: %v, %+v", args, err, c.Serve)
	}
}

// The files that start servers have arguments that the command knows, and probes that it answers.
func TestDeployments(t *testing.T) {
	checkArgs(t, readYAML(t, "compose.yaml")[0].Services["gopherwarp"].Command)
	list := readYAML(t, "kubernetes/gopherwarp.yaml")
	var kinds []string
	for _, x := range list {
		kinds = append(kinds, x.Kind)
	}
	if got := strings.Join(kinds, " "); got != "Deployment Service PodDisruptionBudget HorizontalPodAutoscaler" {
		t.Fatalf("the objects are %s", got)
	}
	pod := list[0].Spec.Template.Spec
	c := pod.Containers[0]
	checkArgs(t, c.Args)
	if pod.Grace <= 30 || c.Ports[0].ContainerPort != 8080 {
		t.Errorf("%d seconds to end, port %d", pod.Grace, c.Ports[0].ContainerPort)
	}
	for _, p := range []probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p.HTTPGet.Path != "/health" || p.HTTPGet.Port != "http" {
			t.Errorf("a probe is %+v", p)
		}
	}
}

// metricsOf returns the metrics of a server of models of all kinds after a request that fails.
func metricsOf(t *testing.T) string {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	e, err := embeddings.Open(dev, berttest.WriteFolder(t, berttest.Options{}), embeddings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	s := serveModels(t, nil, func(all *models) {
		all.vectors["e"] = repository.Loaded[openai.Embedder](e)
		all.pictures["p"] = repository.Loaded[pictures.Model](gray{})
		all.texts["m"] = repository.Loaded[gate.Model](m)
	})
	answer, err := http.Post(s.URL+"/v1/embeddings", "application/json", strings.NewReader(`{"model": "e", "input": []}`))
	if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusBadRequest {
		t.Fatalf("%+v, %v", answer, err)
	}
	if answer, err = http.Get(s.URL + "/metrics"); err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each metric that the dashboard reads exists: those of GPUs in package metrics, others on a server of models of all kinds.
func TestGrafana(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	gpus, err := os.ReadFile(filepath.Join("..", "..", "metrics", "gpus.go"))
	if err != nil {
		t.Fatal(err)
	}
	all, queries := metricsOf(t), 0
	name := regexp.MustCompile(`\b(?:te_|nv_|vllm:|gopherwarp_)\w+`)
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			queries++
			list := name.FindAllString(x.Expr, -1)
			if len(list) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, x.Expr)
			}
			for _, m := range list {
				if !strings.Contains(all, "\n"+m+"{") && !strings.Contains(string(gpus), `"`+m+`"`) {
					t.Errorf("%s: there is no %s", p.Title, m)
				}
			}
		}
	}
	if queries < 20 {
		t.Errorf("%d queries", queries)
	}
}
