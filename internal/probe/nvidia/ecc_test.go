package nvidia

import "testing"

// Newer drivers split the count in two: one half that is not reported was read as zero.
func TestAnECCCountIsTheSumOfBothParts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  rawErrors
		want *int64
	}{
		"one count":             {rawErrors{SRAMUnc: "3"}, new(int64(3))},
		"two parts":             {rawErrors{SRAMParity: "1", SRAMSecded: "2"}, new(int64(3))},
		"parity not reported":   {rawErrors{SRAMParity: "N/A", SRAMSecded: "0"}, nil},
		"SEC-DED not reported":  {rawErrors{SRAMParity: "0"}, nil},
		"a count and N/A parts": {rawErrors{SRAMUnc: "0", SRAMParity: "N/A", SRAMSecded: "N/A"}, new(int64(0))},
		"neither":               {rawErrors{SRAMUnc: "N/A"}, nil},
	} {
		var r smiReader
		got := tt.raw.errors(&r, "volatile").SRAMUncorrectable
		if r.err != nil || (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: %v, want %v, %v", name, got, tt.want, r.err)
		}
	}
}
