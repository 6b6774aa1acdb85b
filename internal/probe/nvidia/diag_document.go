package nvidia

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// diagDocument is the JSON of DCGM 3 or DCGM 4.
type diagDocument struct {
	Root3    *root         `json:"DCGM GPU Diagnostic"`
	Root4    *root         `json:"DCGM Diagnostic"`
	Groups   []entityGroup `json:"entity_groups"`
	Metadata metadata      `json:"metadata"`
	Error    string        `json:"runtime_error"`
}

type root struct {
	Version    string                `json:"version"`
	Driver     string                `json:"Driver Version Detected"`
	Error      string                `json:"runtime_error"`
	Serials    map[string]flexString `json:"GPU Device Serials"`
	Groups     []entityGroup         `json:"entity_groups"`
	Metadata   metadata              `json:"metadata"`
	Categories []struct {
		Category string     `json:"category"`
		Tests    []*rawTest `json:"tests"` // null between tests in some releases
	} `json:"test_categories"`
}

type metadata struct {
	Version     string `json:"version"`
	DCGMVersion string `json:"DCGM Version"`
	Driver      string `json:"Driver Version Detected"`
}

type entityGroup struct {
	Group    string `json:"entity_group"`
	Entities []struct {
		ID     int        `json:"entity_id"`
		Serial flexString `json:"serial_num"`
	} `json:"entities"`
}

type rawTest struct {
	Name    string      `json:"name"`
	Results []rawResult `json:"results"`
	Summary *struct {
		Status   string      `json:"status"`
		Warnings rawWarnings `json:"warnings"`
	} `json:"test_summary"`
}

type rawResult struct {
	Group    string      `json:"entity_group"`
	EntityID *int        `json:"entity_id"`
	GPUID    flexString  `json:"gpu_id"`
	GPUIDs   flexString  `json:"gpu_ids"`
	Status   string      `json:"status"`
	Warnings rawWarnings `json:"warnings"`
	Info     flexStrings `json:"info"`
}

// ids are the GPU indices of a DCGM 3 result.
func (r rawResult) ids() ([]int, error) {
	text := cmp.Or(string(r.GPUID), string(r.GPUIDs))
	if text == "" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("invalid GPU list %.40q: must be comma-separated indices", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// flexString is a string that some releases print as a number.
type flexString string

// UnmarshalJSON implements json.Unmarshaler.
func (f *flexString) UnmarshalJSON(data []byte) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
	case string:
		*f = flexString(v)
	case float64:
		*f = flexString(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return fmt.Errorf("invalid value %.40s: must be a string or a number", data)
	}
	return nil
}

// flexStrings is a string or a list of strings.
type flexStrings []string

// UnmarshalJSON implements json.Unmarshaler.
func (f *flexStrings) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if one != "" {
			*f = flexStrings{one}
		}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return errors.New("invalid info: must be a string or a list of strings")
	}
	*f = many
	return nil
}

// rawWarnings is a list of objects; older releases print strings or one string.
type rawWarnings []DiagWarning

// UnmarshalJSON implements json.Unmarshaler.
func (w *rawWarnings) UnmarshalJSON(data []byte) error {
	var texts flexStrings
	if texts.UnmarshalJSON(data) == nil {
		for _, t := range texts {
			*w = append(*w, DiagWarning{Text: t})
		}
		return nil
	}
	var objects []struct {
		Text     string `json:"warning"`
		ErrorID  int    `json:"error_id"`
		Category int    `json:"error_category"`
		Severity int    `json:"error_severity"`
	}
	if err := json.Unmarshal(data, &objects); err != nil {
		return errors.New("invalid warnings: must be strings or objects with warning, error_id and error_severity")
	}
	for _, o := range objects {
		*w = append(*w, DiagWarning(o))
	}
	return nil
}
