package attest

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestStatementsAreReadInLinearTime(t *testing.T) {
	texts := []growth.Text{
		{Name: "brackets", Again: "["},
		{Name: "subjects", Head: `{"_type":"a","subject":[{}`, Again: `,{"name":"a{n}","digest":{"sha256":"b"}}`, Tail: "]}"},
		{Name: "one subject", Head: `{"_type":"a","subject":[{}`, Again: `,{"name":"a"}`, Tail: "]}"},
		{Name: "keys", Head: `{"a":1`, Again: `,"a{n}":1`, Tail: "}"},
		{Name: "signatures", Head: `{"payloadType":"a","payload":"","signatures":[{}`, Again: `,{"keyid":"a","sig":"b"}`, Tail: "]}"},
	}
	growth.Linear(t, "a statement", func(b []byte) { _, _ = decodeStatement(b) }, texts...)
	growth.Linear(t, "an envelope", func(b []byte) { _, _, _ = Open(t.Context(), b, nil) }, texts...)
}
