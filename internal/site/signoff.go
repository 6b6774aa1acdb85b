package site

import (
	"errors"
	"fmt"
	"time"
)

// ErrSignOffExpired says that an attestation is whole and was valid before.
var ErrSignOffExpired = errors.New("the sign-off expired")

// InForce returns an error if the sign-off is not valid at a time: a field is missing, a
// date is invalid, or the time is outside its dates.
func (s SignOff) InForce(at time.Time) error {
	for _, field := range []struct{ name, value string }{
		{"by", s.By}, {"role", s.Role}, {"reference", s.Reference}, {"at", s.At}, {"expires", s.Expires},
	} {
		if field.value == "" {
			return fmt.Errorf("the facility is not signed off: facility.signOff.%s is missing", field.name)
		}
	}
	signed, err := ParseTime(s.At)
	if err != nil {
		return err
	}
	expires, err := ParseTime(s.Expires)
	if err != nil {
		return err
	}
	if signed.After(at) {
		return fmt.Errorf("the sign-off is dated %s, after the check at %s", s.At, at.UTC().Format(time.RFC3339))
	}
	if !at.Before(expires) {
		return fmt.Errorf("%w at %s, checked at %s", ErrSignOffExpired, s.Expires, at.UTC().Format(time.RFC3339))
	}
	return nil
}
