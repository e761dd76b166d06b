package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda/nccl"
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

// jobSet is a JobSet, as far as the file for trainings uses it.
type jobSet struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		FailurePolicy struct {
			MaxRestarts int `yaml:"maxRestarts"`
		} `yaml:"failurePolicy"`
		ReplicatedJobs []struct {
			Name     string
			Replicas int
			Template struct {
				Spec struct {
					CompletionMode string `yaml:"completionMode"`
					Completions    int
					Parallelism    int
					BackoffLimit   int `yaml:"backoffLimit"`
					Template       struct{ Spec jobPod }
				}
			}
		} `yaml:"replicatedJobs"`
	}
}

// jobPod is a pod of a jobSet.
type jobPod struct {
	RestartPolicy string         `yaml:"restartPolicy"`
	Grace         int            `yaml:"terminationGracePeriodSeconds"`
	Security      map[string]any `yaml:"securityContext"`
	Containers    []struct {
		Name, Image string
		Args        []string
		Env         []struct {
			Name, Value string
			ValueFrom   struct {
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
				FieldRef     struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
			} `yaml:"valueFrom"`
		}
		Resources struct{ Requests, Limits map[string]string }
		Security  map[string]any `yaml:"securityContext"`
		Mounts    []struct {
			Name string
			Path string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name  string
		Claim struct {
			Name string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
		Empty struct {
			Medium string
			Limit  string `yaml:"sizeLimit"`
		} `yaml:"emptyDir"`
	}
}

// checkTraining tests arguments of the program that start a process of a training, and its environment.
func checkTraining(t *testing.T, args []string, env map[string]string, world int) {
	t.Helper()
	var c commands
	if _, err := newParser(&c).Parse(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if c.Finetune.Batch%world != 0 || !c.Finetune.Resume || c.Finetune.Save == 0 {
		t.Errorf("%q: %+v", args, c.Finetune)
	}
	p, several, err := nccl.Launched(func(name string) string { return env[name] })
	if err != nil || !several || p.World != world || p.Secret == "" {
		t.Errorf("%v: %+v, %v, %v", env, p, several, err)
	}
}

// The JobSet for trainings has only fields of the API, arguments that the command knows, and the environment of a process.
func TestJobSet(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/finetune.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var x jobSet
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	job := x.Spec.ReplicatedJobs[0]
	pod, c := job.Template.Spec.Template.Spec, job.Template.Spec.Template.Spec.Containers[0]
	env := map[string]string{}
	for _, v := range c.Env {
		if env[v.Name] = v.Value; v.ValueFrom.SecretKeyRef.Key != "" {
			env[v.Name] = "secret"
		}
		if path := v.ValueFrom.FieldRef.FieldPath; path != "" {
			if env[v.Name] = "1"; path != "metadata.annotations['batch.kubernetes.io/job-completion-index']" {
				t.Errorf("%s is %s", v.Name, path)
			}
		}
	}
	checkTraining(t, c.Args, env, job.Template.Spec.Completions)
	if want := x.Metadata.Name + "-" + job.Name + "-0-0." + x.Metadata.Name; env["MASTER_ADDR"] != want {
		t.Errorf("rank 0 is %s, want %s", env["MASTER_ADDR"], want)
	}
	if s := job.Template.Spec; x.Kind != "JobSet" || s.CompletionMode != "Indexed" || s.Parallelism != s.Completions || s.BackoffLimit != 0 || pod.RestartPolicy != "Never" {
		t.Errorf("the job is %+v", x)
	}
}

// The file for sbatch runs srun with arguments that the command knows, and with a secret.
func TestSbatch(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "srun"), []byte("#!/bin/sh\necho \"$GOPHERWARP_JOB_SECRET\"\nprintf '%s\\n' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "../../deploy/slurm/finetune.sbatch", "/a b")
	cmd.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) < 4 || lines[1] != "--kill-on-bad-exit=1" || lines[2] != "gopherwarp" {
		t.Fatalf("%v: %s", err, out)
	}
	env := map[string]string{"GOPHERWARP_JOB_SECRET": lines[0], "SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "1", "SLURM_STEP_NODELIST": "n[1-2]"}
	checkTraining(t, lines[3:], env, 16)
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
