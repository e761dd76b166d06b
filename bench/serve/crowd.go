package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// crowd is clients that take connections and hardly use them. They are a process of their own, because each connection needs an open file
// on both of its sides.
type crowd struct {
	address             string
	idle, slow, readers int    // connections without a request, and those of clients that send or read a byte at a time
	body                string // of the readers' requests
}

// crowdCommand is the first argument of a process that is a crowd.
const crowdCommand = "crowd"

// send starts the process and waits until all connections are open. The function that it returns ends it.
func (c crowd) send(ctx context.Context) (end func() error, err error) {
	return spawn(ctx, crowdCommand, "-address", c.address, "-body", c.body,
		"-idle", fmt.Sprint(c.idle), "-slow", fmt.Sprint(c.slow), "-readers", fmt.Sprint(c.readers))
}

// runCrowd is the process: it opens the connections, writes a line, and ends when its input does.
func runCrowd(args []string, in io.Reader, out io.Writer) error {
	var c crowd
	f := flag.NewFlagSet(crowdCommand, flag.ExitOnError)
	f.StringVar(&c.address, "address", "", "the server")
	f.StringVar(&c.body, "body", "", "the request of clients that read slowly")
	f.IntVar(&c.idle, "idle", 0, "connections without a request")
	f.IntVar(&c.slow, "slow", 0, "clients that send slowly")
	f.IntVar(&c.readers, "readers", 0, "clients that read slowly")
	if err := f.Parse(args); err != nil {
		return err
	}
	var open []net.Conn
	for range c.idle + c.slow + c.readers {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return err
		}
		open = append(open, conn)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, conn := range open[c.idle:] {
		all.Go(func() {
			if i < c.slow {
				dawdle(ctx, conn, i)
			} else {
				c.readSlowly(ctx, conn)
			}
		})
	}
	if _, err := fmt.Fprintln(out, "open"); err != nil {
		cancel()
		return err
	}
	_, err := io.Copy(io.Discard, in)
	cancel()
	for _, conn := range open {
		conn.Close()
	}
	all.Wait()
	return err
}

// dawdle is a slow client: it sends a header, or a body, a byte at a time.
func dawdle(ctx context.Context, c net.Conn, i int) {
	text := "POST /v1/completions HTTP/1.1\r\nHost: x\r\nX-Slow: " + strings.Repeat("x", 1000)
	if i%2 == 1 {
		text = `{"prompt": "` + strings.Repeat("x", 1000)
		if _, err := fmt.Fprintf(c, "POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"); err != nil {
			return
		}
	}
	everyHalfSecond(ctx, len(text), func(i int) error {
		_, err := c.Write([]byte{text[i]}) // the error says that the server has closed the connection
		return err
	})
}

// readSlowly sends a request and reads the answer a byte at a time.
func (c crowd) readSlowly(ctx context.Context, conn net.Conn) {
	if _, err := fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(c.body), c.body); err != nil {
		return
	}
	everyHalfSecond(ctx, 1<<30, func(int) error {
		_, err := conn.Read(make([]byte, 1))
		return err
	})
}

// everyHalfSecond calls a function n times, until it fails or the context ends.
func everyHalfSecond(ctx context.Context, n int, f func(i int) error) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if f(i) != nil {
				return
			}
		}
	}
}
