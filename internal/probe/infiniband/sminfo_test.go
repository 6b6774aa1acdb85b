package infiniband_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

func TestParseSMInfo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want infiniband.SMInfo
	}{
		"a real fabric": {
			"sminfo: sm lid 37 sm guid 0x7cfe90030016aef1, activity count 4484381 priority 14 state 3 SMINFO_MASTER\n",
			infiniband.SMInfo{Answered: true, LID: 37, GUID: "0x7cfe90030016aef1", Activity: 4484381, Priority: 14, State: new(3)},
		},
		"standby": {
			"sminfo: sm lid 5 sm guid 0x100003, activity count 254 priority 5 state 2 SMINFO_STANDBY\n",
			infiniband.SMInfo{Answered: true, LID: 5, GUID: "0x100003", Activity: 254, Priority: 5, State: new(2)},
		},
		"an old version: hexadecimal LID, no state": {
			"sminfo: sm lid 0x1 sm guid 0x2c9010b7c2ae1, activity count 20 priority 1\n",
			infiniband.SMInfo{Answered: true, LID: 1, GUID: "0x2c9010b7c2ae1", Activity: 20, Priority: 1},
		},
		"no answer":               {"sminfo: iberror: query failed\n", infiniband.SMInfo{}},
		"no answer, other words":  {"ibwarn: [1] mad_rpc: _do_madrpc failed; dport (Lid 1)\nsminfo: iberror: failed: query\n", infiniband.SMInfo{}},
		"no answer, warning only": {"ibwarn: [10755] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0)\n", infiniband.SMInfo{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := infiniband.ParseSMInfo([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseSMInfoRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":           "",
		"truncated":       "sminfo: sm lid 37 sm guid 0x7cfe90030016aef1, activity cou",
		"another tool":    "CA 'mlx5_0'\n\tCA type: MT4129\n",
		"huge":            string(make([]byte, 1<<20)),
		"LID beyond int":  "sminfo: sm lid 99999999999999999999 sm guid 0x1, activity count 1 priority 1 state 3 SMINFO_MASTER",
		"wrong encoding":  "s\x00m\x00i\x00n\x00f\x00o\x00",
		"shell not found": "bash: sminfo: command not found\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParseSMInfo([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

// TestParseSMInfoRealOutputs reads what the real tool printed over a simulated fabric.
func TestParseSMInfoRealOutputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/real/sminfo/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := infiniband.ParseSMInfo(data); err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
}

func FuzzParseSMInfo(f *testing.F) {
	f.Add([]byte("sminfo: sm lid 0x1 sm guid 0x2c9010b7c2ae1, activity count 20 priority 1\n"))
	f.Add([]byte("sminfo: sm lid 37 sm guid 0x7cfe90030016aef1, activity count 4484381 priority 14 state 3 SMINFO_MASTER\n"))
	f.Add([]byte("sminfo: iberror: query failed\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := infiniband.ParseSMInfo(data)
		if err == nil && info.Answered && info.GUID == "" {
			t.Error("an answer without a GUID")
		}
	})
}
