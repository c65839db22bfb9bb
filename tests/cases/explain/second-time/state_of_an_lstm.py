import torch
import torch.nn as nn

lstm = nn.LSTM(2, 4, batch_first=True)
head = nn.Linear(4, 1)
h = (torch.zeros(1, 3, 4), torch.zeros(1, 3, 4))
opt = torch.optim.Adam(list(lstm.parameters()) + list(head.parameters()))
for epoch in range(2):
    for i in range(3):
        opt.zero_grad()
        out, h = lstm(torch.randn(3, 5, 2), h)
        loss = head(out[:, -1]).mean()
        loss.backward()
        opt.step()
