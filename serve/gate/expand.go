package gate

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// expand returns the contents of a body that may be compressed, and that has at most some bytes then.
func expand(data []byte, encoding string, most int64) ([]byte, error) {
	var from io.ReadCloser
	var err error
	switch encoding = strings.ToLower(encoding); {
	case encoding == "", encoding == "identity", len(data) == 0:
		return data, nil
	case encoding == "gzip":
		from, err = gzip.NewReader(bytes.NewReader(data))
	case encoding == "deflate":
		from, err = zlib.NewReader(bytes.NewReader(data))
	default:
		return nil, Failure{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf("the encoding %q is neither gzip nor deflate", encoding)}
	}
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(from, most+1))
	}
	if err != nil {
		return nil, Failure{Status: http.StatusBadRequest, Message: "the body is not in " + encoding + ": " + err.Error()}
	}
	if int64(len(data)) > most {
		return nil, &http.MaxBytesError{Limit: most}
	}
	return data, nil
}
