package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// The numbers that have a Roman numeral, and how many of them the model does not learn.
const (
	most = 3999
	held = 200
)

// symbols are what numerals consist of, the greatest first.
var symbols = []struct {
	value int
	text  string
}{
	{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
}

// roman returns the numeral of a number.
func roman(n int) string {
	var b strings.Builder
	for _, s := range symbols {
		for ; n >= s.value; n -= s.value {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// text is a line of a file for package finetune.
type text struct {
	Prompt     string `json:"prompt"`
	Completion string `json:"completion"`
}

// texts returns those of all numbers in a random order: those to learn, and those to ask for.
func texts() (learned, asked []text) {
	var all []text
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(most) {
		all = append(all, text{roman(n+1) + ":", fmt.Sprint(n + 1)})
	}
	return all[held:], all[:held]
}

// bothWays returns texts of all numbers that ask for the numeral, and texts that ask for the number: those to learn, and those to ask for.
// The latter have no numbers below 100. There are so few short numbers that the others do not teach them.
func bothWays() (learned, asked []text) {
	add := func(to *[]text, t text) {
		numeral := strings.TrimSuffix(t.Prompt, ":")
		*to = append(*to, text{numeral + "=", t.Completion}, text{t.Completion + "=", numeral})
	}
	rest, some := texts()
	for _, t := range rest {
		add(&learned, t)
	}
	for _, t := range some {
		if len(t.Completion) < 3 {
			add(&learned, t)
		} else {
			add(&asked, t)
		}
	}
	return learned, asked
}

// writeTexts writes a file of texts.
func writeTexts(name string, list []text) error {
	var b strings.Builder
	for _, t := range list {
		line, err := json.Marshal(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return os.WriteFile(name, []byte(b.String()), 0o666)
}

// readTexts reads a file of texts.
func readTexts(name string) (list []text, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var t text
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, t)
	}
	return list, nil
}
