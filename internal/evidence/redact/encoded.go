package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// shortest is the length from which a run of base64 may be an encoded file.
const shortest = 60

// inBase64 has the characters of base64 without padding.
var inBase64 = func() (in [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		in[c] = true
	}
	return in
}()

// encoded takes out base64 that holds text with a secret in it, such as a kubeconfig.
func encoded(in []byte, depth int) []byte {
	if depth <= 1 {
		return in
	}
	var edits []edit
	for _, run := range runs(in) {
		decoded, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(in[run.start:run.end], "=")))
		if err != nil || !utf8.Valid(decoded) || bytes.IndexByte(decoded, 0) >= 0 || bytes.Equal(redacted(decoded, depth-1), decoded) {
			continue
		}
		edits = append(edits, edit{run.start, run.end, []byte(mark("encoded"))})
	}
	return applied(in, edits)
}

// runs are the places of base64 that may be an encoded file, with up to two characters of padding. Package
// regexp needs 30 times as long, and an acceptance reads the output of every host.
func runs(in []byte) []span {
	var found []span
	for at := 0; at < len(in); at++ {
		start := at
		for at < len(in) && inBase64[in[at]] {
			at++
		}
		if at-start < shortest {
			continue
		}
		for n := 0; n < 2 && at < len(in) && in[at] == '='; n++ {
			at++
		}
		found = append(found, span{start, at})
		at-- // the next run may begin here
	}
	return found
}
