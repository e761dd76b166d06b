package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/listen"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
	"github.com/gopherwarp/gopherwarp/serve/repository"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// service is a model with its server.
type service struct {
	http.Handler
	close   func() error
	compute func(ctx context.Context) error // a batch without a server
	batch   int                             // items of it
	path    string                          // of requests
	kind    string                          // of their bodies
	body    func(r *rand.Rand, items int) ([]byte, error)

	client *http.Client
	url    string
}

// name is the name of the model in requests.
const name = "m"

// gate returns a gate for the model.
func (p plan) gate() (*gate.Gate, error) {
	return gate.New(gate.Options{Others: []string{name}, Requests: p.users})
}

// texts opens a model that computes vectors.
func (p plan) texts(dev *device.Device) (*service, error) {
	m, err := embeddings.Open(dev, p.model, embeddings.Options{})
	if err != nil {
		return nil, err
	}
	g, err := p.gate()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	h, err := openai.HandleEmbedders(g, openai.EmbedOptions{Models: map[string]*repository.Model[openai.Embedder]{name: repository.Loaded[openai.Embedder](m)}})
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	var batch [][]int32
	r := rand.New(rand.NewPCG(1, 1))
	for n := 0; n < m.BatchTokens(); {
		tokens, _ := m.Encode(p.text(r))
		batch, n = append(batch, tokens), n+len(tokens)
	}
	return &service{
		Handler: h, path: "/v1/embeddings", kind: "application/json", batch: len(batch),
		close:   func() error { h.Close(); return m.Close() },
		compute: func(ctx context.Context) error { _, err := m.EmbedTokens(ctx, batch...); return err },
		body: func(r *rand.Rand, items int) ([]byte, error) {
			list := make([]string, items)
			for i := range list {
				list[i] = p.text(r)
			}
			return json.Marshal(map[string]any{"model": name, "input": list, "encoding_format": "base64"})
		},
	}, nil
}

// text returns a text of random words.
func (p plan) text(r *rand.Rand) (text string) {
	for range p.words {
		text += " " + []string{"winter", "river", "they", "had", "seen", "of", "the", "mountain", "before", "quiet", "evening", "went", "to", "stone"}[r.IntN(14)]
	}
	return text[min(1, len(text)):]
}

// pictures opens a model that classifies pictures.
func (p plan) pictures(dev *device.Device) (*service, error) {
	m, err := p.classifier(dev)
	if err != nil {
		return nil, err
	}
	g, err := p.gate()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	h, err := pictures.Handle(g, pictures.Options{Models: map[string]*repository.Model[pictures.Model]{name: repository.Loaded[pictures.Model](m)}})
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	batch := make([]image.Image, 32)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range batch {
		batch[i] = p.picture(r)
	}
	return &service{
		Handler: h, path: "/classify", kind: "image/jpeg", batch: len(batch),
		close:   func() error { h.Close(); return m.Close() },
		compute: func(ctx context.Context) error { _, err := m.Classify(ctx, 5, batch...); return err },
		body: func(r *rand.Rand, items int) ([]byte, error) {
			if items != 1 {
				return nil, fmt.Errorf("-items: a request has one picture, not %d", items)
			}
			var b bytes.Buffer
			err := jpeg.Encode(&b, p.picture(r), nil)
			return b.Bytes(), err
		},
	}, nil
}

// classifier opens the model for pictures.
func (p plan) classifier(dev *device.Device) (*classify.Model, error) {
	file := p.model
	if file == "" {
		folder, err := os.MkdirTemp("", "resnet")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
		f, err := resnettest.Random(resnet.Config{Blocks: [4]int{3, 4, 6, 3}, Width: 64, Bottleneck: true, Classes: 1000}, 1)
		if err == nil {
			file = filepath.Join(folder, "resnet.safetensors")
			err = safetensors.Save(file, f)
		}
		if err != nil {
			return nil, err
		}
	}
	return classify.Open(dev, file, classify.Options{})
}

// picture returns a picture of coarse random colors.
func (p plan) picture(r *rand.Rand) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, p.side, p.side))
	const tile = 16
	for y := 0; y < p.side; y += tile {
		for x := 0; x < p.side; x += tile {
			c := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
			for i := range tile * tile {
				m.SetRGBA(x+i%tile, y+i/tile, c)
			}
		}
	}
	return m
}

// listen serves the model on a port of this machine. The function that it returns ends that.
func (s *service) listen(ctx context.Context) (stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String() + s.path
	transport := &http.Transport{MaxIdleConnsPerHost: 1 << 14, DisableCompression: true}
	s.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- listen.Serve(ctx, l, s, listen.Options{}) }()
	return func() error {
		transport.CloseIdleConnections()
		cancel()
		return <-ended
	}, nil
}

// send sends a request and reports whether the server has answered it or refused it for want of a place.
func (s *service) send(ctx context.Context, body []byte) (answered bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", s.kind)
	answer, err := s.client.Do(r)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusTooManyRequests || n == 0 {
		err = cmp.Or(err, fmt.Errorf("status %s with %d bytes", answer.Status, n))
	}
	return answer.StatusCode == http.StatusOK, err
}
