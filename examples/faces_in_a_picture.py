"""Find the faces in a picture: a cascade of Haar features that slides over it at several scales.

The picture is half a photograph that comes with scikit-learn, with faces of MIT-CBCL pasted into it. Neither that half
nor these faces were trained on. The faces are downloaded, or read from the folder SKEWBOOST_DATA; where there are none,
the script says so and ends.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from sklearn.datasets import load_sample_image

from skewboost import CascadeClassifier, CSRAClassifier
from skewboost.datasets import fetch_faces
from skewboost.errors import InputError
from skewboost.features import HaarFeatures

SIDE = 19  # pixels of a face in training

try:
    images, y = fetch_faces("train")
except (InputError, OSError) as reason:
    print(f"No faces to look for: {reason}")
    sys.exit()


def scales(picture, factor=1.2):
    """Yield a picture at smaller and smaller scales, and how many of its pixels are one there."""
    times = 1.0
    while min(picture.size) / times > 2 * SIDE:
        smaller = picture.resize([round(side / times) for side in picture.size], Image.Resampling.BILINEAR)
        yield np.asarray(smaller), times
        times *= factor


# Faces that are held out, and a picture that has some of them, smaller and larger
rng = np.random.default_rng(0)
held_out = np.flatnonzero(y == 1)[-400:]
photographs = [Image.fromarray(load_sample_image(name)).convert("L") for name in ("china.jpg", "flower.jpg")]
width, height = photographs[0].size
empty = photographs[0].crop((width // 2, 0, width, height))
photographs[0] = photographs[0].crop((0, 0, width // 2, height))
picture, faces = empty.copy(), []
for k, number in enumerate(rng.choice(held_out, 12, replace=False)):
    side = int(rng.integers(24, 60))
    left, top = 10 + 100 * (k % 3) + int(rng.integers(30)), 10 + 102 * (k // 3) + int(rng.integers(30))
    picture.paste(Image.fromarray(images[number]).resize((side, side), Image.Resampling.BICUBIC), (left, top))
    faces.append((left, top, side))

# Train: the images of the data set, and windows of two photographs that pass the stages so far
training = np.setdiff1d(np.arange(len(y)), held_out)
X = images[training].reshape(len(training), -1)
haar = HaarFeatures(min_size=2, size_step=2, step=2).fit(X)
windows = (haar.windows(smaller)[0] for photograph in photographs for smaller, _ in scales(photograph))
clf = CascadeClassifier(
    CSRAClassifier(n_estimators=200), n_stages=12, detection_rate=0.995, false_alarm_rate=0.4, random_state=0
)
clf.fit(haar.transform(X), y[training], groups=training, negatives=windows)
print(f"{len(clf.stages_)} stages with {clf.history_['n_rounds'].tolist()} of {haar.n_features_out_} features")
print(f"training stopped: {clf.stop_reason_}")

# Slide over the picture
started, n_windows, boxes, scores = time.perf_counter(), 0, [], []
for smaller, times in scales(picture):
    table, places = haar.windows(smaller)
    F = clf.decision_function(table)
    n_windows += len(F)
    boxes += [(left * times, top * times, SIDE * times) for top, left in places[F > 0]]
    scores += F[F > 0].tolist()
took = time.perf_counter() - started


def overlap(a, b):
    """Return the area that two squares share, divided by that of both together."""
    shared = [max(0.0, min(a[i] + a[2], b[i] + b[2]) - max(a[i], b[i])) for i in (0, 1)]
    both = shared[0] * shared[1]
    return both / (a[2] ** 2 + b[2] ** 2 - both)


# Of windows that overlap, the one with the highest score stays. A face is found by dozens of windows, noise by a few.
kept = []
left_over = sorted(zip(scores, boxes), reverse=True)
while left_over:
    best = left_over[0][1]
    if sum(overlap(best, box) > 0.3 for _, box in left_over) >= 8:
        kept.append(best)
    left_over = [(score, box) for score, box in left_over if overlap(best, box) <= 0.3]

found = [face for face in faces if any(overlap(face, box) > 0.4 for box in kept)]
wrong = [box for box in kept if all(overlap(face, box) <= 0.4 for face in faces)]
print(f"{len(found)} of {len(faces)} faces found, {len(wrong)} false alarms in {n_windows:,} windows")
print(f"{n_windows / took:,.0f} windows per second")

figure = Figure(figsize=(6, 8), layout="constrained")
axes = figure.subplots()
axes.imshow(np.asarray(picture), cmap="gray")
axes.set_axis_off()
for colour, squares in (("tab:green", [box for box in kept if box not in wrong]), ("tab:red", wrong)):
    for left, top, side in squares:
        axes.add_patch(Rectangle((left, top), side, side, fill=False, color=colour, linewidth=2))
axes.set_title(f"{len(found)} of {len(faces)} faces (green), {len(wrong)} false alarms (red)")
figure.savefig("faces_in_a_picture.png", dpi=110)
print("The picture is in faces_in_a_picture.png")
