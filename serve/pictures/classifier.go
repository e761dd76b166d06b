package pictures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"net/http"
	"time"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// A Classifier is a model of a Handler, for use by other protocols. Pictures of all protocols wait in the same queue.
type Classifier struct {
	name    string
	model   *repository.Model[Model]
	labels  []string
	queue   *batch.Queue[image.Image, []classify.Class]
	also    func(batch.Report) // is called after each batch
	began   func() func(error) // is called when a request begins, and its result when the request ends
	decoded chan struct{}      // has an element for each picture that is being decoded
	failing batch.Health
	metrics *metrics
}

// newClassifier returns a Classifier with the options of its Handler.
func newClassifier(name string, m *repository.Model[Model], o Options, decoded chan struct{}) (*Classifier, error) {
	c := &Classifier{name: name, model: m, labels: o.Labels[name], decoded: decoded, also: func(batch.Report) {}, metrics: newMetrics(name)}
	c.began = func() func(error) { return func(error) {} }
	if o.Began != nil {
		c.began = func() func(error) { return o.Began(name) }
	}
	if o.Observe != nil {
		c.also = func(r batch.Report) { o.Observe(name, r) }
	}
	var err error
	c.queue, err = batch.New(batch.Options[image.Image, []classify.Class]{
		Run: c.compute, Most: cmp.Or(o.Batch, 32), Queue: cmp.Or(o.Pictures, 256), Delay: o.Delay, Observe: c.observe,
		Computed: gate.DescribeBatch,
	})
	return c, err
}

// compute computes a batch.
func (c *Classifier) compute(ctx context.Context, list []image.Image) ([][]classify.Class, error) {
	m, release, err := c.model.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return m.Classify(ctx, math.MaxInt, list...)
}

// observe is called after each batch.
func (c *Classifier) observe(r batch.Report) {
	c.also(r)
	c.metrics.batch.Observe(float64(r.Items))
	c.failing.Observe(r, classify.ErrPicture)
}

// Classes returns the number of classes. It loads the model if it is not loaded.
func (c *Classifier) Classes(ctx context.Context) (int, error) {
	m, release, err := c.model.Use(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	return m.Classes(), nil
}

// Labels returns the names of classes, beginning with class 0. The list may have fewer elements than there are classes.
func (c *Classifier) Labels() []string { return c.labels }

// Health returns nil if pictures can be classified or the model is not loaded, and otherwise the error. After a failed batch, Health classifies a
// test picture, to find out whether the device works again.
func (c *Classifier) Health(ctx context.Context) error {
	return c.failing.Check(ctx, func() error {
		if c.model.Status().State != repository.Ready {
			return nil
		}
		_, err := c.queue.Do(ctx, image.Image(image.NewGray(image.Rect(0, 0, 1, 1))))
		return err
	})
}

// Classify returns all classes of the pictures in the contents of JPEG or PNG files. The error may be a gate.Failure.
func (c *Classifier) Classify(ctx context.Context, files ...[]byte) ([][]classify.Class, error) {
	gate.DescribeClassifier(ctx, c.name)
	began := time.Now()
	list := make([]image.Image, len(files))
	for i, data := range files {
		var err error
		if list[i], err = c.decode(ctx, data); err != nil {
			return nil, err
		}
	}
	classes, err := c.queue.Do(ctx, list...)
	switch {
	case err == nil:
		c.metrics.request.Observe(time.Since(began).Seconds())
	case errors.Is(err, batch.ErrTooMany):
		err = gate.Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf("%d pictures, which are more than the server's queue holds", len(files))}
	case errors.Is(err, classify.ErrPicture):
		err = gate.Failure{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return classes, err
}

// decode decodes a picture, when few others are decoded: a small file may be a picture of 256 MB.
func (c *Classifier) decode(ctx context.Context, data []byte) (image.Image, error) {
	select {
	case c.decoded <- struct{}{}:
		defer func() { <-c.decoded }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m, err := classify.Decode(data)
	if err != nil {
		return nil, gate.Failure{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return m, nil
}
