package evidence

import (
	"errors"
	"os"
	"testing"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// A signer that was killed leaves a temporary file: the run still verifies, and can be signed.
func TestAHalfWrittenAttestationDoesNotBelongToTheRun(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	if err := atomicfile.WriteSynced(tempOf(dir, attestationFile), []byte(`{"payload`), os.O_TRUNC, fileMode); err != nil {
		t.Fatal(err)
	}
	if problems, err := Verify(dir); err != nil || len(problems) != 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if _, err := Attestation(dir); err == nil {
		t.Error("the temporary file is read as the attestation")
	}
	if err := Attach(dir, []byte("{}\n"), false); err != nil {
		t.Error(err)
	}
	if err := Attach(dir, []byte("{}\n"), false); !errors.Is(err, ErrAttested) {
		t.Errorf("attached twice: %v", err)
	}
}

func TestOneProcessSigns(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	err := WithExclusiveLock(dir, func() error {
		return WithExclusiveLock(dir, func() error { return nil })
	})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("two processes hold the lock: %v", err)
	}
	if err := WithSharedLock(dir, func() error { return WithSharedLock(dir, func() error { return nil }) }); err != nil {
		t.Errorf("two processes cannot read it: %v", err)
	}
	if err := WithExclusiveLock(dir, func() error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
