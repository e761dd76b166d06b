package trace

import (
	"compress/gzip"
	"encoding/binary"
	"io"
)

// message is the encoding of a message of profile.proto, the format of go tool pprof
// (github.com/google/pprof/blob/main/proto/profile.proto).
type message []byte

// The numbers of fields, by message.
const (
	profileSampleType, profileSample, profileMapping, profileLocation, profileFunction, profileStrings = 1, 2, 3, 4, 5, 6
	profileTime, profileDuration, profilePeriodType, profilePeriod, profileDefault                     = 9, 10, 11, 12, 14

	typeName, typeUnit                                                       = 1, 2
	sampleLocations, sampleValues                                            = 1, 2
	mappingID, mappingFile, mappingFunctions, mappingFilenames, mappingLines = 1, 5, 7, 8, 9
	locationID, locationMapping, locationLine                                = 1, 2, 4
	lineFunction, lineNumber                                                 = 1, 2
	functionID, functionName, functionSystemName, functionFile               = 1, 2, 3, 4
)

// The wire types of fields.
const (
	varint = 0
	length = 2
)

// number appends a field with a number. A negative one has ten bytes.
func (m *message) number(field int, v int64) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field<<3|varint)), uint64(v))
}

// bytes appends a field with a string or a message.
func (m *message) bytes(field int, b []byte) {
	*m = append(binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field<<3|length)), uint64(len(b))), b...)
}

// numbers appends a field with a list of numbers.
func (m *message) numbers(field int, list []int64) {
	var packed []byte
	for _, v := range list {
		packed = binary.AppendUvarint(packed, uint64(v))
	}
	m.bytes(field, packed)
}

// stringTable holds each string of a profile once. The first is empty.
type stringTable struct {
	list   []string
	number map[string]int64
}

// index returns the number of a string.
func (t *stringTable) index(s string) int64 {
	if t.number == nil {
		t.list, t.number = []string{""}, map[string]int64{"": 0}
	}
	i, ok := t.number[s]
	if !ok {
		i = int64(len(t.list))
		t.list, t.number[s] = append(t.list, s), i
	}
	return i
}

// valueType encodes the name and the unit of values.
func (t *stringTable) valueType(name, unit string) (m message) {
	m.number(typeName, t.index(name))
	m.number(typeUnit, t.index(unit))
	return m
}

// encode returns the profile as a message. The caller holds the lock.
func (p *Profile) encode() (m message) {
	var t stringTable
	m.bytes(profileSampleType, t.valueType("work", "count"))
	m.bytes(profileSampleType, t.valueType("bytes", "bytes"))
	m.bytes(profileSampleType, t.valueType("device", "nanoseconds"))
	for _, s := range p.list {
		var b message
		b.numbers(sampleLocations, s.stack)
		b.numbers(sampleValues, s.values[:])
		m.bytes(profileSample, b)
	}
	var mapping message
	mapping.number(mappingID, 1)
	mapping.number(mappingFile, t.index(p.program))
	for _, has := range []int{mappingFunctions, mappingFilenames, mappingLines} {
		mapping.number(has, 1)
	}
	m.bytes(profileMapping, mapping)
	p.encodeStacks(&m, &t)
	m.number(profileTime, p.begin)
	m.number(profileDuration, p.took)
	m.bytes(profilePeriodType, t.valueType("device", "nanoseconds"))
	m.number(profilePeriod, 1)
	m.number(profileDefault, t.index("device"))
	for _, s := range t.list {
		m.bytes(profileStrings, []byte(s))
	}
	return m
}

// encodeStacks appends the locations and functions.
func (p *Profile) encodeStacks(m *message, t *stringTable) {
	for i, f := range p.functions.list {
		var b message
		b.number(functionID, int64(i+1))
		b.number(functionName, t.index(f.function))
		b.number(functionSystemName, t.index(f.function))
		b.number(functionFile, t.index(f.file))
		m.bytes(profileFunction, b)
	}
	for i, at := range p.locations.list {
		var line, b message
		line.number(lineFunction, p.functions.id(at.whole()))
		line.number(lineNumber, int64(at.line))
		b.number(locationID, int64(i+1))
		b.number(locationMapping, 1)
		b.bytes(locationLine, line)
		m.bytes(profileLocation, b)
	}
}

// write compresses the message, as pprof expects it.
func (m message) write(w io.Writer) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write(m); err != nil {
		return err
	}
	return z.Close()
}
