package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
	parser := newParser(&c, terminal{io.Discard, io.Discard})
	if _, err := parser.Parse(dashes(parser.Model, args)); err != nil {
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
