package lora

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// config is the contents of an adapter_config.json that matter here.
type config struct {
	Base           string          `json:"base_model_name_or_path"`
	Type           string          `json:"peft_type"`
	Task           string          `json:"task_type"`
	Rank           int             `json:"r"`
	Alpha          float64         `json:"lora_alpha"`
	Dropout        float64         `json:"lora_dropout"`
	Modules        json.RawMessage `json:"target_modules"`
	RankStabilized bool            `json:"use_rslora,omitempty"`
	DoRA           bool            `json:"use_dora,omitempty"`
	Bias           string          `json:"bias"`
	Inference      bool            `json:"inference_mode"`
}

// keys are those of config, and those that do not change what an adapter computes. A file may have other keys with values that stand for
// nothing, which are the defaults of PEFT's other options.
var keys = []string{
	"base_model_name_or_path", "peft_type", "task_type", "r", "lora_alpha", "lora_dropout", "target_modules", "use_rslora", "use_dora", "bias", "inference_mode",
	"auto_mapping", "exclude_modules", "init_lora_weights", "megatron_core", "peft_version", "qalora_group_size", "revision", "runtime_config",
}

// nothing are JSON values that stand for nothing.
var nothing = []string{"null", "false", "0", `""`, "[]", "{}"}

// parseConfig returns the Options in the text of an adapter_config.json, and the modules that it names: none if it has a pattern. The
// error wraps ErrFormat and names all keys that are not supported.
func parseConfig(text []byte) (Options, error) {
	c, all := config{Bias: "none"}, map[string]json.RawMessage{}
	err := json.Unmarshal(text, &all)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return Options{}, fmt.Errorf("%w: adapter_config.json: %w", ErrFormat, err)
	}
	var errs []error
	for key, value := range all {
		if !slices.Contains(keys, key) && !slices.Contains(nothing, compact(value)) {
			errs = append(errs, fmt.Errorf("%w: adapter_config.json has %s: %s", ErrFormat, key, value))
		}
	}
	if c.Type != "LORA" || c.Bias != "none" {
		errs = append(errs, fmt.Errorf("%w: adapter_config.json has the type %q and the bias %q; want LORA and none", ErrFormat, c.Type, c.Bias))
	}
	slices.SortFunc(errs, func(a, b error) int { return bytes.Compare([]byte(a.Error()), []byte(b.Error())) })
	o := Options{Rank: c.Rank, Alpha: c.Alpha, RankStabilized: c.RankStabilized, Dropout: c.Dropout, DoRA: c.DoRA, Base: c.Base}
	if json.Unmarshal(c.Modules, &o.Modules) == nil {
		slices.Sort(o.Modules)
	}
	return o, errors.Join(append(errs, o.check())...)
}

// compact returns a JSON value without spaces.
func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

// configText returns the text of an adapter_config.json.
func (o Options) configText() ([]byte, error) {
	modules, err := json.Marshal(o.Modules)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(config{
		Base: o.Base, Type: "LORA", Task: "CAUSAL_LM", Rank: o.Rank, Alpha: o.Alpha, Dropout: o.Dropout, Modules: modules,
		RankStabilized: o.RankStabilized, DoRA: o.DoRA, Bias: "none", Inference: true,
	}, "", "  ")
	return append(text, '\n'), err
}
