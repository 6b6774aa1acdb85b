package check

import (
	"strings"
	"testing"
)

func TestOne(t *testing.T) {
	t.Parallel()
	whole, err := Observation{ID: "1", Kind: "a"}.WithFigures(map[string]int{"n": 3})
	if err != nil {
		t.Fatal(err)
	}
	broken, garbled := whole, whole
	broken.Err = "refused"
	garbled.Figures = []byte(`"text"`)
	other := Observation{ID: "2", Kind: "b"}
	for name, tt := range map[string]struct {
		obs  []Observation
		says string
	}{
		"the only one":  {[]Observation{other, whole}, ""},
		"none":          {[]Observation{other}, "a was observed 0 times, want exactly one observation"},
		"two":           {[]Observation{whole, whole}, "a was observed 2 times"},
		"in error":      {[]Observation{broken}, "a could not be observed: refused"},
		"another shape": {[]Observation{garbled}, "read the observation a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, id, err := One[map[string]int](tt.obs, "a")
			if tt.says == "" {
				if err != nil || v["n"] != 3 || id != "1" {
					t.Errorf("%v %s %v", v, id, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}
