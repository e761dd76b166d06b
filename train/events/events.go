package events

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"
)

// A Scalar is a value of a curve at a step.
type Scalar struct {
	Tag   string // the name of the curve; TensorBoard groups curves with the same text before a slash
	Value float32
}

// A Writer writes an event file.
type Writer struct {
	file io.WriteCloser
}

// Create creates a new file in a folder, and the folder if it does not exist. The file is for the steps
// after the given step.
func Create(folder string, at time.Time, step int64) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	f, err := create(folder, at)
	if err != nil {
		return nil, err
	}
	w := &Writer{f}
	version := appendBytes(appendTime(nil, at), fileVersion, []byte("brain.Event:2"))
	start := appendNumber(nil, sessionStatus, sessionStart)
	session := appendBytes(appendNumber(appendTime(nil, at), eventStep, uint64(step)+1), eventSession, start)
	if err := errors.Join(w.record(version), w.record(session)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// create creates a file whose name sorts after those of earlier files, as TensorBoard requires.
func create(folder string, at time.Time) (*os.File, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	for i := 0; ; i++ {
		name := filepath.Join(folder, fmt.Sprintf("events.out.tfevents.%010d.%s.%d", at.Unix(), host, i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// Add adds the scalars of a step.
func (w *Writer) Add(at time.Time, step int64, list ...Scalar) error {
	var summary []byte
	for _, x := range list {
		value := appendBytes(nil, valueTag, []byte(x.Tag))
		value = binary.AppendUvarint(value, valueSimple<<3|fixed32)
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x.Value))
		summary = appendBytes(summary, summaryValue, value)
	}
	return w.record(appendBytes(appendNumber(appendTime(nil, at), eventStep, uint64(step)), eventSummary, summary))
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }

// record writes a TFRecord: the length and the data, each followed by its checksum.
func (w *Writer) record(data []byte) error {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	all := binary.LittleEndian.AppendUint32(length, masked(length))
	all = append(all, data...)
	_, err := w.file.Write(binary.LittleEndian.AppendUint32(all, masked(data)))
	return err
}

// masked returns the checksum that TFRecords have of data: CRC-32C, rotated, plus a constant.
func masked(data []byte) uint32 {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// The numbers of fields of the messages Event, SessionLog, Summary and Summary.Value, and the status START.
const (
	eventTime     = 1
	eventStep     = 2
	fileVersion   = 3
	eventSummary  = 5
	eventSession  = 7
	sessionStatus = 1
	sessionStart  = 1
	summaryValue  = 1
	valueTag      = 1
	valueSimple   = 2
)

// The wire types of protocol buffers.
const (
	varint  = 0
	fixed64 = 1
	length  = 2
	fixed32 = 5
)

// appendTime appends the field of an Event with its time in seconds.
func appendTime(b []byte, at time.Time) []byte {
	b = binary.AppendUvarint(b, eventTime<<3|fixed64)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(at.UnixNano())/1e9))
}

// appendNumber appends a field with an integer.
func appendNumber(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3|varint), v)
}

// appendBytes appends a field with bytes: a string or a message.
func appendBytes(b []byte, field uint64, data []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|length), uint64(len(data)))
	return append(b, data...)
}
