package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][][]string{
		"":                               nil,
		"  ibstat  -l ":                  {{"ibstat", "-l"}},
		`'a b' "c \"d\"" e\ f ''`:        {{"a b", `c "d"`, "e f", ""}},
		`a'b'"c"`:                        {{"abc"}},
		"a && b || c; d":                 {{"a"}, {"b"}, {"c"}, {"d"}},
		"echo '&&' ';'":                  {{"echo", "&&", ";"}},
		"ibstat 2>&1":                    {{"ibstat"}},
		"'nvidia-smi' '-q' '-x'":         {{"nvidia-smi", "-q", "-x"}},
		`echo 'it'"'"'s'`:                {{"echo", "it's"}},
		"dmesg 2>/dev/null;":             {{"dmesg"}},
		"true\nfalse":                    {{"true", "false"}},
		`'--query-gpu=index,pci.bus_id'`: {{"--query-gpu=index,pci.bus_id"}},
	} {
		steps, err := parse(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		var got [][]string
		for _, s := range steps {
			got = append(got, s.argv)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
	for _, line := range []string{"'", `"abc`, "a | b", "a > b", "a &"} {
		if _, err := parse(line); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}
