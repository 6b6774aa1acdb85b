package pregate

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/firstlight/firstlight/internal/site"
)

// CheckFiles reads the files that the site's Helm releases name: passwords, certificates and values.
// It returns a problem for each that is missing, unreadable or empty, by its key; contents are not part of
// it. A mirror needs no password.
func CheckFiles(s *site.Site) error {
	var problems []error
	for i, p := range s.Prepare {
		h := p.Helm
		if h == nil {
			continue
		}
		check := func(key, path string, valid func([]byte) error) {
			if err := checkFile(path, valid); err != nil {
				problems = append(problems, fmt.Errorf("prepare.%d.helm.%s: %w", i, key, err))
			}
		}
		if h.PasswordFile != "" && s.Reach.Charts[h.Reference()] == "" {
			check("passwordFile", h.PasswordFile, nil)
		}
		if h.CAFile != "" {
			check("caFile", h.CAFile, func(pem []byte) error {
				_, err := poolOf(pem)
				return err
			})
		}
		for _, path := range h.Files() {
			check("valuesFiles", path, func([]byte) error { return nil })
		}
	}
	return errors.Join(problems...)
}

var errEmpty = errors.New("is empty")

// checkFile reads a file; valid may refuse its content, and is nil for one that must not be blank.
func checkFile(path string, valid func([]byte) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the file: %w", err)
	}
	if valid == nil && len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s %w", path, errEmpty)
	}
	if valid != nil {
		if err := valid(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
