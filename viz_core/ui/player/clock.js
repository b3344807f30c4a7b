// Time for playing: whole steps at a speed, frame by frame.

const LONGEST_MS = 100; // a frame that took longer counts as this, so that a hidden page does not leap

// Call `advance` once a frame with the whole steps that `speed()` steps a second make due, until it returns false.
export function run(advance, speed) {
  let [last, due] = [performance.now(), 0];
  const frame = (time) => {
    due += (Math.min(LONGEST_MS, Math.max(0, time - last)) / 1000) * speed();
    last = time;
    const whole = Math.floor(due + 1e-6);
    due -= whole;
    if (advance(whole)) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
