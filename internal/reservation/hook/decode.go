package hook

import (
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"
)

// MaxSize bounds a request and a response, in bytes.
const MaxSize = 1 << 20

// decode reads one JSON value strictly: keys that are unknown, written in another
// case or there twice are errors, all of them at once.
func decode(data []byte, into any) error {
	if len(data) > MaxSize {
		return fmt.Errorf("it is larger than %d bytes", MaxSize)
	}
	strict, err := kjson.UnmarshalStrict(data, into)
	return errors.Join(append(strict, err)...)
}

// ParseRequest reads what a hook was told, and holds it against the contract.
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

// ParseResponse reads what a hook answered to a request, and holds it against the
// contract. A response with an error in it is one.
func ParseResponse(data []byte, to Request) (Response, error) {
	var r Response
	if len(data) == 0 {
		return Response{}, errors.New("read the response: there is none")
	}
	if err := decode(data, &r); err != nil {
		return Response{}, fmt.Errorf("read the response: %w", err)
	}
	if err := r.validate(to); err != nil {
		return Response{}, fmt.Errorf("read the response: %w", err)
	}
	return r, nil
}
