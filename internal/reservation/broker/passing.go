package broker

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsTransient reports errors after which the same request may succeed: the API server is starting,
// overloaded or did not answer in time. The request may have been executed.
func IsTransient(err error) bool {
	var network net.Error
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsUnexpectedServerError(err) ||
		errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		err != nil && strings.Contains(err.Error(), truncatedBody)
}

// truncatedBody is client-go's message for a response that ended early; the error has no type of
// its own.
const truncatedBody = "unexpected error when reading response body. Please retry."

func newID() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // Read never fails
	return hex.EncodeToString(raw)
}
