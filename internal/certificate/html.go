package certificate

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
)

//go:embed page.gohtml
var pageText string

func (c Certificate) html(signedBy string) ([]byte, error) {
	t, err := template.New("certificate").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("parse the certificate's page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, c.document(signedBy)); err != nil {
		return nil, fmt.Errorf("render the certificate's page: %w", err)
	}
	return out.Bytes(), nil
}
