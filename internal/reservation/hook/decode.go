package hook

import (
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// MaxSize bounds a request and a response, in bytes.
const MaxSize = 1 << 20

// decode decodes one JSON value strictly: unknown keys, wrong case and duplicates are errors, all
// reported at once.
func decode(data []byte, into any) error {
	if len(data) > MaxSize {
		return fmt.Errorf("larger than %d bytes", MaxSize)
	}
	strict, err := guard.Parse("JSON", func() ([]error, error) { return kjson.UnmarshalStrict(data, into) })
	return errors.Join(append(strict, err)...)
}

// ParseRequest decodes and validates a request.
func ParseRequest(data []byte) (Request, error) {
	var r Request
	if err := decode(data, &r); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	if err := r.validate(); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	return r, nil
}

// ParseResponse decodes and validates the response to a request. A response with an error is
// valid.
func ParseResponse(data []byte, to Request) (Response, error) {
	var r Response
	if len(data) == 0 {
		return Response{}, errors.New("read the response: empty")
	}
	if err := decode(data, &r); err != nil {
		return Response{}, fmt.Errorf("read the response: %w", err)
	}
	if err := r.validate(to); err != nil {
		return Response{}, fmt.Errorf("read the response: %w", err)
	}
	return r, nil
}
