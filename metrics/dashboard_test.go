package metrics

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// series is a sample of the endpoint.
type series struct {
	labels map[string]string
	value  float64
}

// scrape returns the samples of the endpoint by metric, with the label that Prometheus adds.
func scrape(t *testing.T, g prometheus.Gatherer) map[string][]series {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	defer server.Close()
	got, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	all := map[string][]series{}
	line, label := regexp.MustCompile(`^(\w+)\{(.*)\} (\S+)$`), regexp.MustCompile(`(\w+)="([^"]*)"`)
	for lines := bufio.NewScanner(got.Body); lines.Scan(); {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		s := series{labels: map[string]string{"instance": "box:9400"}}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			s.labels[l[1]] = l[2]
		}
		if s.value, err = strconv.ParseFloat(m[3], 64); err != nil {
			t.Fatal(err)
		}
		all[m[1]] = append(all[m[1]], s)
	}
	return all
}

// The forms of the dashboards' queries.
var (
	aggregated = regexp.MustCompile(`^(max|avg|sum)\((.*?)\)(?: by \(([^()]*)\))?$`)
	scaled     = regexp.MustCompile(`^(.*) \* ([0-9]+)$`)
	selector   = regexp.MustCompile(`^(\w+)\{(.*)\}$`)
	matcher    = regexp.MustCompile(`(\w+)=~"([^"]*)"`)
)

// query evaluates a query in the subset of Prometheus' language that the dashboards use.
func query(all map[string][]series, q string) ([]series, error) {
	if m := aggregated.FindStringSubmatch(q); m != nil {
		inner, err := query(all, m[2])
		return aggregate(m[1], inner, strings.Split(strings.ReplaceAll(m[3], " ", ""), ",")), err
	}
	if m := scaled.FindStringSubmatch(q); m != nil {
		inner, err := query(all, m[1])
		scale, _ := strconv.ParseFloat(m[2], 64)
		for i := range inner {
			inner[i].value *= scale
		}
		return inner, err
	}
	m := selector.FindStringSubmatch(q)
	if m == nil {
		return nil, fmt.Errorf("no query: %s", q)
	}
	var chosen []series
	for _, s := range all[m[1]] {
		fits := true
		for _, want := range matcher.FindAllStringSubmatch(m[2], -1) {
			fits = fits && regexp.MustCompile("^(?:"+want[2]+")$").MatchString(s.labels[want[1]])
		}
		if fits {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

// aggregate merges series that have equal values of the given labels, and sorts the result by them.
func aggregate(how string, all []series, by []string) []series {
	groups := map[string][]series{}
	for _, s := range all {
		kept := map[string]string{}
		for _, name := range by {
			if v := s.labels[name]; v != "" {
				kept[name] = v
			}
		}
		key := fmt.Sprint(kept)
		groups[key] = append(groups[key], series{kept, s.value})
	}
	var out []series
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		group := groups[key]
		r := group[0]
		for _, s := range group[1:] {
			if how == "max" {
				r.value = max(r.value, s.value)
			} else {
				r.value += s.value
			}
		}
		if how == "avg" {
			r.value /= float64(len(group))
		}
		out = append(out, r)
	}
	return out
}

// dashboard lists the queries of NVIDIA's dashboard for the exporter (number 12239 at grafana.com),
// in the current version of the exporter's repository and in an older one (by instance), with the
// answers for two GPUs.
var dashboard = []struct{ query, want string }{
	{`max(DCGM_FI_DEV_GPU_TEMP{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, uuid)`, "box 0: 40, box 1: 50"},
	{`avg(DCGM_FI_DEV_GPU_TEMP{Hostname=~"$Hostname", gpu=~"$gpu"})`, "45"},
	{`max(DCGM_FI_DEV_POWER_USAGE{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, uuid)`, "box 0: 100, box 1: 300"},
	{`sum(max(DCGM_FI_DEV_POWER_USAGE{Hostname=~"$Hostname", gpu=~"$gpu"}) by (gpu))`, "400"},
	{`max(DCGM_FI_DEV_SM_CLOCK{Hostname=~"$Hostname", gpu=~"$gpu"} * 1000000) by (Hostname, UUID, gpu)`, "box 0: 1.5e+09, box 1: 1.5e+09"},
	{`max(DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)`, "box 0: 0.75, box 1: 0.5"},
	{`max(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)`, "box 0: 0.25"},
	{`max(DCGM_FI_DEV_FB_USED{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)`, "box 0: 1024, box 1: 2048"},
	{`DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"}`, "box 0: 40, box 1: 50"},
	{`DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"1"}`, "box 1: 50"},
	{`avg(DCGM_FI_DEV_GPU_TEMP{instance=~"$instance", gpu=~"$gpu"})`, "45"},
	{`DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"}`, "box 0: 100, box 1: 300"},
	{`sum(DCGM_FI_DEV_POWER_USAGE{instance=~"$instance", gpu=~"$gpu"})`, "400"},
	{`DCGM_FI_DEV_SM_CLOCK{instance=~"$instance", gpu=~"$gpu"} * 1000000`, "box 0: 1.5e+09, box 1: 1.5e+09"},
	{`DCGM_FI_DEV_SM_CLOCK{instance=~"$instance", gpu=~"0"} * 1000000`, "box 0: 1.5e+09"},
	{`DCGM_FI_DEV_FB_USED{instance=~"$instance", gpu=~"$gpu"}`, "box 0: 1024, box 1: 2048"},
	{`DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~"$instance", gpu=~"$gpu"}`, "box 0: 0.25"},
	{`DCGM_FI_DEV_GPU_UTIL{instance=~"$instance", gpu=~"$gpu"}`, "box 0: 70, box 1: 50"},
	{`DCGM_FI_DEV_FB_FREE{Hostname=~"$Hostname"}`, "box 0: 10, box 1: 10"}, // whose labels are the variables' values
}

// TestDashboard answers every query of the dashboard from the endpoint's metrics of two GPUs. The
// second GPU is older and has no activity counters.
func TestDashboard(t *testing.T) {
	g := &GPUs{xids: newXIDs()}
	for i, name := range []string{"0", "1"} {
		f := fake{}
		f.reading.Temperature.GPU, f.reading.Power = nvml.Known(float64(40+10*i)), nvml.Known(float64(100+200*i))
		f.reading.Clocks.SM, f.reading.Load.GPU = nvml.Known(1500), nvml.Known(float64(70-20*i))
		f.reading.Memory.Used, f.reading.Memory.Free = nvml.Known(float64(int(1)<<(30+i))), nvml.Known(10<<20)
		if i == 0 {
			f.usage.Graphics, f.usage.Tensor = nvml.Known(75), nvml.Known(25)
		}
		g.gpus = append(g.gpus, gpu{monitor: f, labels: labels(name)})
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(g)
	all := scrape(t, registry)
	variables := strings.NewReplacer("$Hostname", "box", "$gpu", "0|1", "$instance", "box:9400")
	for _, d := range dashboard {
		answer, err := query(all, variables.Replace(d.query))
		if err != nil {
			t.Error(err)
		}
		var got []string
		for _, s := range answer {
			text := strconv.FormatFloat(s.value, 'g', -1, 64)
			if gpu, ok := s.labels["gpu"]; ok {
				text = s.labels["Hostname"] + " " + gpu + ": " + text
			}
			got = append(got, text)
		}
		if slices.Sort(got); strings.Join(got, ", ") != d.want {
			t.Errorf("%s\ngot  %s\nwant %s", d.query, strings.Join(got, ", "), d.want)
		}
	}
}

// The endpoint also has Triton's metrics of GPUs, with its label and units.
func TestTriton(t *testing.T) {
	f := fake{}
	f.reading.Load.GPU, f.reading.Power, f.reading.PowerLimit, f.reading.Energy = nvml.Known(70), nvml.Known(100), nvml.Known(700), nvml.Known(5000)
	f.reading.Memory.Used, f.reading.Memory.Total = nvml.Known(1<<30), nvml.Known(1<<32)
	g := &GPUs{xids: newXIDs(), gpus: []gpu{{monitor: f, labels: labels("0")}}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(g)
	all := scrape(t, registry)
	for name, want := range map[string]float64{
		"nv_gpu_utilization": 0.7, "nv_gpu_memory_total_bytes": 1 << 32, "nv_gpu_memory_used_bytes": 1 << 30, "nv_gpu_power_usage": 100, "nv_gpu_power_limit": 700,
		"nv_energy_consumption": 5000,
	} {
		if got := all[name]; len(got) != 1 || math.Abs(got[0].value-want) > 1e-9 || got[0].labels["gpu_uuid"] != labels("0")["UUID"] {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
