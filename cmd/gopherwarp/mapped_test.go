package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// TestMmap expects the same output of commands whatever -mmap says.
func TestMmap(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	pixels, text := filepath.Join(t.TempDir(), "gray.png"), filepath.Join(t.TempDir(), "text")
	for name, data := range map[string]string{pixels: picture(t), text: strings.Repeat("gopher ", 20)} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	language := llamatest.Write(t, llamatest.Options{})
	for _, args := range [][]string{
		{"generate", "-model", language, "-max-tokens=5", "-seed=1", "Hello"},
		{"embed", "-model", berttest.WriteFolder(t, berttest.Options{Pooling: "pooling_mode_mean_tokens"}), "the cat sat"},
		{"rerank", "-model", berttest.WriteFolder(t, berttest.Options{Labels: 1}), "the cat", "a dog", "a mat"},
		{"classify", "-model", resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 3}, 2), "-json", pixels},
		{"perplexity", "-model", language, "-context=20", text},
	} {
		var read, mapped, errs bytes.Buffer
		for flag, out := range map[string]*bytes.Buffer{"-mmap=off": &read, "-mmap=on": &mapped} {
			if code := run(context.Background(), slices.Insert(slices.Clone(args), 1, flag), terminal{out, &errs}); code != exitOK {
				t.Fatalf("%v %s: exit code %d: %s", args, flag, code, &errs)
			}
		}
		if read.Len() == 0 || !bytes.Equal(read.Bytes(), mapped.Bytes()) {
			t.Errorf("%v prints %q, and with -mmap=off %q", args, &mapped, &read)
		}
	}
}
