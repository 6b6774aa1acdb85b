package main

import (
	"fmt"
	"io"
	"strings"
)

// row is one module of the page.
type row struct {
	module
	ids []string
}

const pageHead = `# Licences

The modules of others that the firstlight binary links, and the licences of their licence files. Written by ` + "`make licenses`" + `, which fails
where a licence is not one of ` + "`internal/ci/licenses/policy.yaml`" + `; a test fails where this page differs. firstlight is under Apache-2.0.
The programs of a lab are built on the user's machine from their own modules, and are not given away with it.

| module | version | licence |
|---|---|---|
`

func writePage(w io.Writer, rows []row) {
	fmt.Fprint(w, pageHead)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %s |\n", r.Path, r.Version, strings.Join(r.ids, ", "))
	}
}
