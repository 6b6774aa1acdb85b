package matrix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config/configtest"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	configtest.Invalid(t, "testdata/bad", 20, matrix.Parse, matrix.Rules())
}

// FuzzParse: nothing makes it panic, and of what it takes a night can be made.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, example) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "v0.18.0\nv0.18.1\nmain")
	}
	f.Fuzz(func(t *testing.T, data []byte, tags string) {
		c, err := matrix.Parse("f", data)
		if err != nil {
			return
		}
		if c.WorkTimeout() <= 0 || c.Teardown <= 0 {
			t.Fatalf("nothing is left of %s when %s are kept", c.CellLimit, c.Teardown)
		}
		versions, err := matrix.Versions(c, strings.Split(tags, "\n"))
		if err == nil && (len(versions) == 0 || len(versions) > c.Previous+1) {
			t.Fatalf("%+v has %v", c, versions)
		}
	})
}
