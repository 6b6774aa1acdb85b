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

// Passing tells errors after which the same request may be answered: the API server
// starts, is too busy, or did not answer in time, and it may have done what was asked.
func IsTransient(err error) bool {
	var network net.Error
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsUnexpectedServerError(err) ||
		errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		err != nil && strings.Contains(err.Error(), truncatedBody)
}

// pleaseRetry is what client-go says of an answer that broke off; the error in it is
// of no kind of its own.
const truncatedBody = "unexpected error when reading response body. Please retry."

func newID() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}
