package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// container is a container of Kubernetes, or a service of Docker Compose, as far as the tests read it. The module in deploy/kubernetes/check
// decodes the objects of Kubernetes strictly.
type container struct {
	Args, Command []string
	Env           []struct {
		Name, Value string
		ValueFrom   any `yaml:"valueFrom"`
	}
	StartupProbe   probe `yaml:"startupProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
}

// probe is a request that tests a server.
type probe struct {
	HTTPGet *struct{ Path string } `yaml:"httpGet"`
}

// values returns the values of a key, at any depth of all documents of a file in the folder deploy.
func values[T any](t *testing.T, name, key string) (list []T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	var add func(n *yaml.Node)
	add = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == key {
				var x T
				if err := child.Decode(&x); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				list = append(list, x)
			}
			add(child)
		}
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		add(&n)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no %s", name, key)
	}
	return list
}

// checkArgs checks arguments of the program that start a server, and returns what they set.
func checkArgs(t *testing.T, args []string) *serveCommand {
	t.Helper()
	t.Setenv("GOPHERWARP_API_KEY", "secret")
	var c commands
	if _, err := newParser(&c).Parse(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if err := c.Serve.check(); err != nil || c.Serve.Listen != ":8080" || len(c.Serve.Model) == 0 {
		t.Errorf("%q: %v, %+v", args, err, c.Serve)
	}
	return &c.Serve
}

// The files that start servers have arguments that the command knows, and probes that it answers.
func TestDeployments(t *testing.T) {
	checkArgs(t, values[container](t, "compose.yaml", "gopherwarp")[0].Command)
	for _, name := range []string{"kubernetes/gopherwarp.yaml", "kubernetes/servingruntime.yaml"} {
		for _, c := range values[[]container](t, name, "containers")[0] {
			args := checkArgs(t, c.Args)
			for _, p := range []probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
				if p.HTTPGet != nil && p.HTTPGet.Path != "/health" {
					t.Errorf("%s: a probe is for %s", name, p.HTTPGet.Path)
				}
			}
			if c.ReadinessProbe.HTTPGet == nil {
				t.Errorf("%s has no probe of readiness", name)
			}
			if name == "kubernetes/gopherwarp.yaml" {
				// Within the delay, all nodes learn that the Service must not send requests to the pod.
				if grace := values[int](t, name, "terminationGracePeriodSeconds")[0]; args.Wait < 5*time.Second || time.Duration(grace)*time.Second <= args.Wait+args.Drain {
					t.Errorf("%s: Kubernetes waits for %d s, the server for %v after %v", name, grace, args.Drain, args.Wait)
				}
			}
		}
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

// The JobSet for trainings has arguments that the command knows, and the environment of a process.
func TestJobSet(t *testing.T) {
	const name = "kubernetes/finetune.yaml"
	c := values[[]container](t, name, "containers")[0][0]
	env := map[string]string{}
	for _, v := range c.Env {
		if env[v.Name] = v.Value; v.ValueFrom != nil { // a secret, or the number of the process
			env[v.Name] = "1"
		}
	}
	checkTraining(t, c.Args, env, values[int](t, name, "completions")[0])
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

// assignments returns the lines NAME=VALUE of a unit of systemd or of a file with an environment. A name can have several values.
func assignments(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "systemd", name))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if key, value, ok := strings.Cut(line, "="); ok && line[0] != '#' {
			all[key] = append(all[key], value)
		} else if line != "" && line[0] != '#' && line[0] != '[' {
			t.Errorf("%s: %s", name, line)
		}
	}
	return all
}

// keyFile returns the name of a file with an API key.
func keyFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The unit of systemd starts a server with flags that the command knows, and allows it the time and the files that it needs.
func TestSystemd(t *testing.T) {
	unit, env := assignments(t, "gopherwarp.service"), assignments(t, "gopherwarp.env")
	start := strings.Join(unit["ExecStart"], " ")
	expand := strings.NewReplacer("${MODEL}", env["MODEL"][0], "${CREDENTIALS_DIRECTORY}/keys", keyFile(t), "$FLAGS", env["FLAGS"][0])
	program, args, _ := strings.Cut(expand.Replace(start), " ")
	c := checkArgs(t, strings.Fields(args))
	var byDefault commands
	if _, err := newParser(&byDefault).Parse([]string{"serve", "-model", "m"}); err != nil {
		t.Fatal(err)
	}
	stop, err := strconv.Atoi(unit["TimeoutStopSec"][0])
	if d := time.Duration(stop) * time.Second; err != nil || d <= c.Drain || d <= byDefault.Serve.Drain {
		t.Errorf("systemd waits for %v, the server for %v or %v: %v", d, c.Drain, byDefault.Serve.Drain, err)
	}
	files, err := strconv.Atoi(unit["LimitNOFILE"][0])
	if err != nil || files <= byDefault.Serve.Sockets {
		t.Errorf("%d files for %d connections: %v", files, byDefault.Serve.Sockets, err)
	}
	if unit["Restart"][0] != "on-failure" || unit["DynamicUser"][0] != "yes" || unit["PrivateDevices"] != nil {
		t.Errorf("the unit is %v", unit)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("../../deploy/systemd/gopherwarp.service")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "gopherwarp.service")
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte(program), []byte(self)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", name).CombinedOutput(); err != nil || bytes.Contains(out, []byte("gopherwarp.service")) {
		t.Errorf("%v: %s", err, out)
	}
}

// fakes is a folder of programs that write their arguments to a file.
type fakes struct{ folder, log string }

// newFakes returns programs with these names. Each runs a text of shell after it has written its arguments.
func newFakes(t *testing.T, names, text string) fakes {
	t.Helper()
	f := fakes{t.TempDir(), filepath.Join(t.TempDir(), "log")}
	for name := range strings.FieldsSeq(names) {
		script := "#!/bin/sh\necho \"${0##*/} $*\" >>'" + f.log + "'\n" + text
		if err := os.WriteFile(filepath.Join(f.folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// run runs a script of deploy/gcp and returns what the programs wrote.
func (f fakes) run(t *testing.T, script string, env ...string) (calls string, err error) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	name := filepath.Join("..", "..", "deploy", "gcp", script)
	if out, err := exec.CommandContext(t.Context(), sh, "-n", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(f.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), sh, name)
	cmd.Env = append(append(os.Environ(), "PATH="+f.folder+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	text, err := os.ReadFile(f.log)
	return string(text), err
}

// The script for Google Cloud creates a machine once, with one GPU, and refuses wrong variables.
func TestDeployGoogleCloud(t *testing.T) {
	image, model := "IMAGE=registry.example/gopherwarp", "MODEL=https://host/m.gguf"
	absent := newFakes(t, "gcloud", `[ "$3" = create ]`)
	for gpu, want := range map[string]string{"l4": "--machine-type=g2-standard-4 ", "t4": "--machine-type=n1-standard-4 --accelerator=type=nvidia-tesla-t4,count=1 "} {
		calls, err := absent.run(t, "create.sh", image, model, "GPU="+gpu, "ZONE=z", "NAME=n")
		for _, part := range []string{"compute instances create n --zone=z " + want, " --image-family=debian-12 --image-project=debian-cloud ", " --maintenance-policy=TERMINATE ",
			" --metadata=gopherwarp-image=registry.example/gopherwarp,gopherwarp-model=https://host/m.gguf ", "startup-script=../../deploy/gcp/startup.sh"} {
			if err != nil || !strings.Contains(calls, part) {
				t.Errorf("%s: %v: %q is not in %s", gpu, err, part, calls)
			}
		}
	}
	if calls, err := newFakes(t, "gcloud", "").run(t, "create.sh", image, model, "NAME=n"); err != nil || strings.Contains(calls, "create") {
		t.Errorf("a machine exists: %v, %s", err, calls)
	}
	for message, env := range map[string][]string{"is the URL": {image, "MODEL="}, "is the image": {model, "IMAGE="}, "l4 or t4": {image, model, "GPU=h100"}, "comma": {image, "MODEL=a,b=c"}} {
		if _, err := absent.run(t, "create.sh", env...); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", message, err)
		}
	}
}

// newMachine returns the programs of a machine of Google Cloud, of which Debian has the headers for a kernel, and a folder with its files. The
// first call of apt-get fails.
func newMachine(t *testing.T, kernel string) (f fakes, root string) {
	t.Helper()
	root = t.TempDir()
	sources := filepath.Join(root, "etc/apt/sources.list.d")
	if err := os.MkdirAll(sources, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sources, "debian.sources"), []byte("Types: deb\nComponents: main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f = newFakes(t, "apt-cache apt-get curl systemctl docker nvidia-ctk nvidia-smi modprobe chown uname reboot sleep", `
case "${0##*/} $*" in
*attributes/gopherwarp-image) echo europe-docker.pkg.dev/p/r/gopherwarp ;;
*attributes/gopherwarp-model) echo https://host/models/m.gguf ;;
*/token) echo '{"access_token":"abc","expires_in":3599}' ;;
"docker login"*) [ "$(cat)" = abc ] ;;
curl*-o*) echo content >"$3" ;;
uname*) echo 6.1.0-1-cloud-amd64 ;;
apt-cache*) [ "$2" = linux-headers-`+kernel+` ] ;;
apt-get*) [ -e "$ROOT/tried" ] || ! touch "$ROOT/tried" ;;
esac`)
	return f, root
}

// The script that a machine runs installs the driver, Docker and the toolkit, in this order and once, and starts a server at each start.
func TestStartup(t *testing.T) {
	f, root := newMachine(t, "6.1.0-1-cloud-amd64")
	calls, err := f.run(t, "startup.sh", "ROOT="+root)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(root, "etc/apt/sources.list.d/debian.sources")); err != nil || !strings.Contains(string(text), "Components: main contrib\n") {
		t.Errorf("the sources are %s, %v", text, err)
	}
	rest := strings.ReplaceAll(calls, " -y -o DPkg::Lock::Timeout=600", "")
	for _, want := range []string{"apt-get update\nsleep 10\napt-get update\n", "apt-get install linux-headers-6.1.0-1-cloud-amd64 ", "3bf863cc.pub\n", "linux/debian/gpg\n",
		"libnvidia-container/gpgkey\n", "apt-get update\n", "apt-get install cuda-drivers\n", "apt-get install docker-ce ", "apt-get install nvidia-container-toolkit\n", "nvidia-ctk runtime configure --runtime=docker\n", "systemctl restart docker\n", "modprobe nvidia-uvm\n", "m.gguf.part https://host/models/m.gguf\n",
		"docker login ", "docker pull europe-docker.pkg.dev/p/r/gopherwarp\n", "docker rm -f gopherwarp\n", "docker run -d "} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("%q is not at its place in\n%s", want, calls)
		}
		rest = after
	}
	_, args, _ := strings.Cut(rest, " europe-docker.pkg.dev/p/r/gopherwarp ")
	checkArgs(t, strings.Fields(strings.Replace(args, "/keys", keyFile(t), 1)))
	keys := filepath.Join(root, "etc/gopherwarp/keys")
	first, err := os.ReadFile(keys)
	if info, e := os.Stat(keys); err != nil || e != nil || len(first) < 44 || info.Mode() != 0o600 {
		t.Errorf("the key: %q, %v, %v", first, err, e)
	}
	calls, err = f.run(t, "startup.sh", "ROOT="+root)
	again, e := os.ReadFile(keys)
	if err != nil || e != nil || strings.Contains(calls, "apt-get") || strings.Contains(calls, ".part") || !strings.Contains(calls, "docker run") || !bytes.Equal(first, again) {
		t.Errorf("at the second start: %v, %v, %s", err, e, calls)
	}
}

// If Debian has no headers of the machine's kernel, the machine gets the newest kernel and reboots, but only once.
func TestStartupOldKernel(t *testing.T) {
	f, root := newMachine(t, "6.1.0-2-cloud-amd64")
	calls, err := f.run(t, "startup.sh", "ROOT="+root)
	if err != nil || !strings.Contains(calls, " install linux-image-cloud-amd64 ") || !strings.HasSuffix(calls, "\nreboot \n") {
		t.Errorf("%v: %s", err, calls)
	}
	if _, err := f.run(t, "startup.sh", "ROOT="+root); err == nil || !strings.Contains(err.Error(), "no headers of the kernel 6.1.0-1-cloud-amd64") {
		t.Errorf("at the second start: %v", err)
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
