package redact

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"unicode/utf8"
)

// base64Run is what may be an encoded file.
var base64Run = regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`)

// encoded takes out base64 that holds text with a secret in it, such as a kubeconfig.
func encoded(in []byte, depth int) []byte {
	if depth <= 1 {
		return in
	}
	return base64Run.ReplaceAllFunc(in, func(m []byte) []byte {
		decoded, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(m, "=")))
		if err != nil || !utf8.Valid(decoded) || bytes.IndexByte(decoded, 0) >= 0 {
			return m
		}
		if bytes.Equal(redacted(decoded, depth-1), decoded) {
			return m
		}
		return []byte(mark("encoded"))
	})
}
