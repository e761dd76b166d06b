package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// load is users at once.
type load struct {
	plan
	url    string
	users  int
	number int // of the run

	mu             sync.Mutex
	tokens         int
	first, between []time.Duration
}

// run returns the tokens of answers per second.
func (l *load) run(ctx context.Context) (float64, error) {
	began := time.Now()
	errs := make([]error, l.users)
	var all sync.WaitGroup
	for user := range l.users {
		all.Go(func() {
			for i := range l.requests {
				errs[user] = errors.Join(errs[user], l.ask(ctx, user*l.requests+i))
			}
		})
	}
	all.Wait()
	return float64(l.tokens) / time.Since(began).Seconds(), errors.Join(errs...)
}

// prompt returns a prompt that no other one begins with, after the words that all have.
func (l *load) prompt(i int) string {
	return strings.TrimSpace(words(0, l.shared) + fmt.Sprintf(" %d %d: Tell a long story.", i, l.number) + words(i, l.words))
}

// words returns n words, each after a space.
func words(i, n int) (text string) {
	for k := range n {
		text += fmt.Sprint(" ", []string{"fox", "bear", "honey", "forest", "river", "winter", "song"}[(i+k*k)%7])
	}
	return text
}

// ask sends request number i and reads the answer.
func (l *load) ask(ctx context.Context, i int) error {
	body, err := json.Marshal(map[string]any{
		"prompt": l.prompt(i), "max_tokens": l.plan.tokens, "temperature": 0, "stream": true, "stream_options": map[string]bool{"include_usage": true},
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/v1/completions", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("request %d: status %s", i, answer.Status)
	}
	return l.read(bufio.NewScanner(answer.Body), began)
}

// read reads a stream.
func (l *load) read(lines *bufio.Scanner, last time.Time) error {
	n := 0
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var part struct {
			Choices []json.RawMessage
			Usage   struct {
				Tokens int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			return fmt.Errorf("%w: %s", err, data)
		}
		now := time.Now()
		l.mu.Lock()
		l.tokens += part.Usage.Tokens
		if n++; n == 1 {
			l.first = append(l.first, now.Sub(last))
		} else if len(part.Choices) > 0 {
			l.between = append(l.between, now.Sub(last))
		}
		l.mu.Unlock()
		last = now
	}
	return lines.Err()
}
