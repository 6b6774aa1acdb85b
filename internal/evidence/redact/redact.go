package redact

import (
	"bytes"
	"encoding/json"
)

// maxDepth is how deep documents are looked for in strings of documents.
const maxDepth = 4

// Bytes returns in without the secrets in it; in itself if it has no secrets.
func Bytes(in []byte) []byte { return redacted(in, maxDepth) }

// String is Bytes for a string.
func String(in string) string { return string(Bytes([]byte(in))) }

// mark is the replacement for a secret.
func mark(kind string) string { return "[redacted: " + kind + "]" }

const markStart = "[redacted: "

// Marked reports whether a text has the mark of a redacted secret.
func Marked(in []byte) bool { return bytes.Contains(in, []byte(markStart)) }

func redacted(in []byte, depth int) []byte {
	if len(in) == 0 || depth == 0 {
		return in
	}
	if first := bytes.TrimLeft(in, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[' || first[0] == '"') && json.Valid(in) {
		return document(in, depth)
	}
	return text(in, depth)
}

// text redacts input that is not one JSON document: documents in it, then the rest.
func text(in []byte, depth int) []byte {
	if !mayHold(in) {
		return in
	}
	out, lower := in, lowerCase(in)
	named := lower.hasOne(secretWords)
	if named && bytes.IndexByte(in, '{') >= 0 {
		out = embedded(in, depth)
	}
	out = privateKeys(out, lower)
	out = encoded(out, depth)
	out = bootstrapTokens(out)
	for _, r := range rules {
		if r.may(lower, named) {
			out = r.apply(out)
		}
	}
	if lower.has("secret") {
		out = secretManifests(out)
	}
	if named {
		out = blocks(out)
	}
	return out
}

// mayHold is a quick test for a text that may have a secret: a single word can only be
// a token of a known form.
func mayHold(in []byte) bool {
	if bytes.ContainsAny(in, " =:\n\t\"'") || len(in) > 200 {
		return true
	}
	lower := lowerCase(in)
	return bytes.IndexByte(in, '.') >= 0 || lower.has("ls0tls1crudjti") || tokenRule.may(lower, false)
}

// embedded redacts the JSON documents that stand in a text: one a line, or
// pretty-printed behind other words.
func embedded(in []byte, depth int) []byte {
	var edits []edit
	found, _ := documents(in)
	for _, d := range found {
		doc := in[d.start:d.end]
		if out := document(doc, depth); !bytes.Equal(out, doc) {
			edits = append(edits, edit{d.start, d.end, out})
		}
	}
	return applied(in, edits)
}

// span is in[start:end].
type span struct{ start, end int }

// documents finds the JSON documents in a text. wasted is how many bytes were read of text that
// begins like a document and is not one; it is limited by the size of the text.
func documents(in []byte) (found []span, wasted int) {
	patience := 8*len(in) + 1<<16
	for at := 0; wasted < patience; {
		i := bytes.IndexByte(in[at:], '{')
		if i < 0 {
			break
		}
		at += i
		rest := bytes.NewReader(in[at:])
		var doc json.RawMessage
		if err := json.NewDecoder(rest).Decode(&doc); err != nil {
			wasted += len(in) - at - rest.Len()
			at++
			continue
		}
		found = append(found, span{at, at + len(doc)})
		at += len(doc)
	}
	return found, wasted
}

// edit replaces in[start:end].
type edit struct {
	start, end int
	with       []byte
}

// applied makes edits, which are in order and do not overlap.
func applied(in []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return in
	}
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(in[at:e.start])
		out.Write(e.with)
		at = e.end
	}
	out.Write(in[at:])
	return out.Bytes()
}
