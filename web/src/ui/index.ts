export { Button, DownloadButton, LinkButton } from "./Button";
export { Confirm, Dialog } from "./Dialog";
export { type Option, Segmented, Select, Slider, Switch, TextField } from "./Form";
export { Icon, type IconName } from "./Icon";
export { Badge, Card, Empty, Meter, Notice, ScoreRing, Skeleton, type Tone } from "./Show";
export { type Order, SortHeader } from "./Table";
export { Toasts, useToast } from "./Toast";
