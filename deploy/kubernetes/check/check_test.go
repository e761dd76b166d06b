package check

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/json"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// objects are the objects of all files.
type objects struct {
	deployment    appsv1.Deployment
	service       corev1.Service
	budget        policyv1.PodDisruptionBudget
	scaler        autoscalingv2.HorizontalPodAutoscaler
	pool          inferencePool
	runtime       servingRuntime
	jobs          jobSet
	customization kustomize.Kustomization
}

// place returns where to decode an object of a version and a kind, or nil.
func (o *objects) place(version, kind string) any {
	return map[string]any{
		"apps/v1 Deployment":                            &o.deployment,
		"v1 Service":                                    &o.service,
		"policy/v1 PodDisruptionBudget":                 &o.budget,
		"autoscaling/v2 HorizontalPodAutoscaler":        &o.scaler,
		"inference.networking.k8s.io/v1 InferencePool":  &o.pool,
		"serving.kserve.io/v1alpha1 ServingRuntime":     &o.runtime,
		"jobset.x-k8s.io/v1alpha2 JobSet":               &o.jobs,
		"kustomize.config.k8s.io/v1beta1 Kustomization": &o.customization,
	}[version+" "+kind]
}

// decode decodes the objects of a file. It returns an error for an unknown or repeated field, for a field in the wrong case, and for an object
// of an unknown kind.
func (o *objects) decode(text []byte) error {
	for i, document := range bytes.Split(text, []byte("\n---\n")) {
		object, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(object, &kind); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		to := o.place(kind.APIVersion, kind.Kind)
		if to == nil {
			return fmt.Errorf("document %d: there is no type for %+v", i, kind)
		}
		strict, err := json.UnmarshalStrict(object, to)
		if err := errors.Join(append(strict, err)...); err != nil {
			return fmt.Errorf("document %d, %s: %w", i, kind.Kind, err)
		}
	}
	return nil
}

// read returns the text of a file of the folder above.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// all returns the objects of all files.
func all(t *testing.T) *objects {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "*.yaml"))
	if err != nil || len(names) != 5 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	o := new(objects)
	for _, name := range names {
		name = filepath.Base(name)
		if err := o.decode(read(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return o
}

// A file with a wrong field or value is refused.
func TestStrict(t *testing.T) {
	for _, x := range []struct{ name, old, new, want string }{
		{"gopherwarp.yaml", "terminationGracePeriodSeconds", "terminationGraceSeconds", "unknown field"},
		{"gopherwarp.yaml", "terminationGracePeriodSeconds", "terminationgraceperiodseconds", "unknown field"},
		{"gopherwarp.yaml", "minReplicas: 1", "maxReplicas: 1", "already set"},
		{"gopherwarp.yaml", "memory: 8Gi", "memory: 8GiB", "quantities"},
		{"gopherwarp.yaml", "policy/v1", "policy/v1beta1", "no type"},
		{"inferencepool.yaml", "port: {number: 9002}", "portNumber: 9002", "unknown field"},
		{"finetune.yaml", "completions: 4", `completions: "4"`, "int32"},
		{"servingruntime.yaml", "containerPort", "port", "unknown field"},
		{"kustomization.yaml", "newTag", "tag", "unknown field"},
	} {
		text := strings.Replace(string(read(t, x.name)), x.old, x.new, 1)
		if err := new(objects).decode([]byte(text)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s with %s: %v", x.name, x.new, err)
		}
	}
}

// The objects that belong to the Deployment name its pods and their port.
func TestDeployment(t *testing.T) {
	o := all(t)
	pod := o.deployment.Spec.Template
	labels, port := pod.Labels, pod.Spec.Containers[0].Ports[0]
	for kind, got := range map[string]map[string]string{
		"Deployment":          o.deployment.Spec.Selector.MatchLabels,
		"Service":             o.service.Spec.Selector,
		"PodDisruptionBudget": o.budget.Spec.Selector.MatchLabels,
		"InferencePool":       o.pool.Spec.Selector.MatchLabels,
	} {
		if len(labels) == 0 || !maps.Equal(got, labels) {
			t.Errorf("the %s has pods with the labels %v, want %v", kind, got, labels)
		}
	}
	if p := o.service.Spec.Ports; len(p) != 1 || p[0].TargetPort.StrVal != port.Name {
		t.Errorf("the ports of the Service are %v, that of the pods is %v", p, port)
	}
	if p := o.pool.Spec.TargetPorts; len(p) != 1 || p[0].Number != port.ContainerPort {
		t.Errorf("the ports of the InferencePool are %v, that of the pods is %v", p, port)
	}
	if p := o.pool.Spec.EndpointPickerRef; p.Kind != "Service" || p.Name == "" || p.Port.Number == 0 || p.FailureMode != "FailOpen" {
		t.Errorf("the picker is %+v", p)
	}
	if to := o.scaler.Spec.ScaleTargetRef; to.APIVersion != o.deployment.APIVersion || to.Kind != o.deployment.Kind || to.Name != o.deployment.Name {
		t.Errorf("the scaler is for %+v", to)
	}
	if m := o.scaler.Spec.Metrics; len(m) != 1 || m[0].Type != autoscalingv2.PodsMetricSourceType || m[0].Pods.Target.AverageValue.Value() != 8 {
		t.Errorf("the metrics of the scaler are %+v", m)
	}
	probes := []*corev1.Probe{pod.Spec.Containers[0].StartupProbe, pod.Spec.Containers[0].ReadinessProbe, pod.Spec.Containers[0].LivenessProbe}
	for _, p := range probes {
		if p.HTTPGet.Port.StrVal != port.Name {
			t.Errorf("a probe has the port %v, the pods %v", p.HTTPGet.Port, port)
		}
	}
	checkContainer(t, pod.Spec.Containers[0], pod.Spec.Volumes)
}

// checkContainer tests that a container has a GPU, few rights, and the volumes that it mounts.
func checkContainer(t *testing.T, c corev1.Container, volumes []corev1.Volume) {
	t.Helper()
	if n := c.Resources.Limits["nvidia.com/gpu"]; n.Value() != 1 {
		t.Errorf("%s has %d GPUs", c.Name, n.Value())
	}
	for resource, request := range c.Resources.Requests {
		if limit, ok := c.Resources.Limits[resource]; ok && limit.Cmp(request) < 0 {
			t.Errorf("%s: the limit of %s is %v, the request %v", c.Name, resource, &limit, &request)
		}
	}
	if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
		t.Errorf("%s has the rights %+v", c.Name, s)
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("%s mounts %s, which does not exist", c.Name, m.Name)
		}
	}
}

// The runtime of KServe has the port, the key and the image of the Deployment.
func TestServingRuntime(t *testing.T) {
	o := all(t)
	c, other := o.runtime.Spec.Containers[0], o.deployment.Spec.Template.Spec.Containers[0]
	port := c.Ports[0].ContainerPort
	if c.Name != "kserve-container" || c.Image != other.Image || port != other.Ports[0].ContainerPort {
		t.Errorf("the container is %+v", c)
	}
	if a := o.runtime.Spec.Annotations["prometheus.kserve.io/port"]; a != fmt.Sprint(port) || c.ReadinessProbe.HTTPGet.Port.IntVal != port {
		t.Errorf("the ports of metrics and health are %s and %v, that of the container is %d", a, c.ReadinessProbe.HTTPGet.Port, port)
	}
	if got, want := secrets(c), secrets(other); len(want) != 1 || !maps.Equal(got, want) {
		t.Errorf("the secrets are %v, want %v", got, want)
	}
	if f := o.runtime.Spec.SupportedModelFormats; len(f) != 2 || f[0].Name != "gguf" || f[1].Name != "huggingface" || !slices.Equal(o.runtime.Spec.ProtocolVersions, []string{"v2"}) {
		t.Errorf("the formats are %+v, the protocols %v", f, o.runtime.Spec.ProtocolVersions)
	}
	checkContainer(t, c, o.runtime.Spec.Volumes)
}

// secrets returns the variables of a container that have a secret.
func secrets(c corev1.Container) map[string]string {
	list := map[string]string{}
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
			list[v.Name] = v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
		}
	}
	return list
}

// The processes of a training run at the same time, on hosts of which the first is known by its name.
func TestJobSet(t *testing.T) {
	o := all(t)
	job := o.jobs.Spec.ReplicatedJobs[0]
	s, pod := job.Template.Spec, job.Template.Spec.Template.Spec
	if job.Replicas != 1 || *s.CompletionMode != batchv1.IndexedCompletion || *s.Parallelism != *s.Completions || *s.BackoffLimit != 0 || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("the job is %+v", job)
	}
	c := pod.Containers[0]
	env := map[string]corev1.EnvVar{}
	for _, v := range c.Env {
		env[v.Name] = v
	}
	if got, want := env["MASTER_ADDR"].Value, o.jobs.Name+"-"+job.Name+"-0-0."+o.jobs.Name; got != want {
		t.Errorf("the first host is %s, want %s", got, want)
	}
	if got := env["RANK"].ValueFrom.FieldRef.FieldPath; got != "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']" {
		t.Errorf("RANK is %s", got)
	}
	if c.Image != o.deployment.Spec.Template.Spec.Containers[0].Image {
		t.Errorf("the image is %s", c.Image)
	}
	checkContainer(t, c, pod.Volumes)
}

// The kustomization has files that exist, and the image of the Deployment.
func TestKustomization(t *testing.T) {
	o := all(t)
	for _, name := range o.customization.Resources {
		read(t, name)
	}
	if k := o.customization; !slices.Contains(k.Resources, "gopherwarp.yaml") || len(k.Images) != 1 || k.Images[0].Name != o.deployment.Spec.Template.Spec.Containers[0].Image {
		t.Errorf("the kustomization is %+v", k)
	}
}
