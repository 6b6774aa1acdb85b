package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/golden"
)

// The page is of what is linked now, and none of it is refused.
func TestPage(t *testing.T) {
	t.Parallel()
	got, err := list(t.Context(), filepath.Join("..", "..", ".."), []string{"./cmd/firstlight"})
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "../../../docs/licenses.md", got)
}

const (
	agpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU Affero General Public License as
published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.
This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
FITNESS FOR A PARTICULAR PURPOSE. See the GNU Affero General Public License for more details.
You should have received a copy of the GNU Affero General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`
	isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the
above copyright notice and this permission notice appear in all copies.
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY
AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM
LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
PERFORMANCE OF THIS SOFTWARE.
`
)

// Recognition of the licence files of a module, and refusals.
func TestJudge(t *testing.T) {
	t.Parallel()
	p, err := loadPolicy()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		module  string
		files   map[string]string
		want    []string
		refused string
	}{
		"allowed":                     {"example.com/m", map[string]string{"LICENSE": isc}, []string{"ISC"}, ""},
		"copyleft for what is linked": {"example.com/m", map[string]string{"LICENSE": agpl}, []string{"AGPL-3.0-or-later"}, "LICENSE: licence AGPL-3.0-or-later is not allowed"},
		"one file of two":             {"example.com/m", map[string]string{"LICENSE": isc, "COPYING": agpl}, []string{"AGPL-3.0-or-later", "ISC"}, "COPYING: licence AGPL"},
		"one part of a file":          {"example.com/m", map[string]string{"LICENSE": isc + agpl}, []string{"ISC", "AGPL-3.0-or-later"}, "AGPL"},
		"a licence of its own":        {"example.com/m", map[string]string{"LICENSE": "You may use this on Tuesdays."}, nil, "LICENSE is not recognised"},
		"more than a licence":         {"example.com/m", map[string]string{"LICENSE": isc + strings.Repeat("And you owe the author a fee each month. ", 30)}, []string{"ISC"}, "not recognised"},
		"of documentation":            {"github.com/opencontainers/go-digest", map[string]string{"LICENSE": isc, "LICENSE.docs": agpl}, []string{"ISC"}, ""},
		"of another's documentation":  {"example.com/m", map[string]string{"LICENSE": isc, "LICENSE.docs": agpl}, []string{"ISC", "AGPL-3.0-or-later"}, "AGPL"},
		"an empty file":               {"example.com/m", map[string]string{"LICENSE": ""}, nil, "not recognised"},
		"none":                        {"example.com/m", nil, nil, "no licence file"},
	} {
		files := map[string][]byte{}
		for n, text := range c.files {
			files[n] = []byte(text)
		}
		got, err := p.judge(c.module, files)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want it refused with %q", name, err, c.refused)
		}
	}
}

func TestLicenceFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "LICENCE.txt", "license-apache", "COPYING.md", "UNLICENSE", "license.go", "licenses.md", "README", "PATENTS"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "LICENSES"), 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := licenceFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"COPYING.md", "LICENCE.txt", "LICENSE", "UNLICENSE", "license-apache"}, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Error(diff)
	}
}

// A linked module with a forbidden licence fails the list, and the error names it. A module that is
// required and not linked is not in the list, nor is a module of the repository itself.
func TestAForbiddenLicenceFails(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	var goMod strings.Builder
	goMod.WriteString("module example.com/m\n\ngo 1.26\n")
	for name, where := range map[string]string{"free": "../free", "strict": "../strict", "idle": "../idle", "stub": "./stub"} {
		fmt.Fprintf(&goMod, "\nrequire example.com/%[1]s v1.0.0\n\nreplace example.com/%[1]s => %[2]s\n", name, where)
	}
	for name, text := range map[string]string{
		"m/go.mod":       goMod.String(),
		"m/main.go":      "package main\n\nimport (\n\t_ \"example.com/free\"\n\t_ \"example.com/strict\"\n\t_ \"example.com/stub\"\n)\n\nfunc main() {}\n",
		"m/stub/go.mod":  "module example.com/stub\n",
		"m/stub/s.go":    "package stub\n",
		"free/go.mod":    "module example.com/free\n",
		"free/f.go":      "package free\n",
		"free/LICENSE":   isc,
		"strict/go.mod":  "module example.com/strict\n",
		"strict/s.go":    "package strict\n",
		"strict/COPYING": agpl,
		"idle/go.mod":    "module example.com/idle\n",
		"idle/i.go":      "package idle\n",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := list(t.Context(), filepath.Join(top, "m"), []string{"."})
	if err == nil || !strings.Contains(err.Error(), "example.com/strict v1.0.0: COPYING: licence AGPL-3.0-or-later is not allowed") || strings.Contains(err.Error(), "example.com/free") {
		t.Errorf("%v, want example.com/strict alone refused", err)
	}
	if text := string(page); !strings.Contains(text, "| example.com/free | v1.0.0 | ISC |") || strings.Contains(text, "idle") || strings.Contains(text, "stub") {
		t.Errorf("the page:\n%s", text)
	}
}
